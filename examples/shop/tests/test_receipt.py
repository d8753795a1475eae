import unittest

from cart import Cart
from receipt import receipt


class ReceiptTest(unittest.TestCase):
    def test_a_receipt_lists_the_articles_and_the_total(self):
        cart = Cart()
        cart.add("tea")
        cart.add("coffee")
        self.assertEqual(receipt(cart), "tea  4.50\ncoffee  7.99\ntotal  12.49")
