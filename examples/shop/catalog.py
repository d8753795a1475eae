"""What the shop sells: article → price in cents."""

PRICES = {"tea": 450, "coffee": 799, "pot": 2995, "set": 10000}


def price(article: str) -> int:
    """The price of an article in cents."""
    if article not in PRICES:
        raise KeyError(f"the shop does not sell {article!r}; it sells {', '.join(PRICES)}")
    return PRICES[article]
