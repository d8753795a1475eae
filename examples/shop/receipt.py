"""An order as text."""

from catalog import price


def receipt(cart):
    """One line for each article, and the total."""
    lines = [f"{article}  {amount(price(article))}" for article in cart.articles]
    return "\n".join([*lines, f"total  {amount(cart.total())}"])


def amount(cents):
    return f"{cents // 100}.{cents % 100:02}"
