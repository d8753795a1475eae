import unittest

from cart import Cart


class CartTest(unittest.TestCase):
    def test_an_empty_order_costs_nothing(self):
        self.assertEqual(Cart().total(), 0)

    def test_the_total_is_the_sum_of_the_prices(self):
        cart = Cart()
        cart.add("tea", 2)
        cart.add("pot")
        self.assertEqual(cart.total(), 3895)

    def test_what_the_shop_does_not_sell_is_refused(self):
        with self.assertRaises(KeyError):
            Cart().add("elephant")
