"""An order and its total."""

from catalog import price


class Cart:
    def __init__(self):
        self.articles = []

    def add(self, article, count=1):
        price(article)  # what the shop does not sell is refused here
        self.articles += [article] * count

    def total(self):
        """What the order costs, in cents."""
        return sum(price(article) for article in self.articles)
