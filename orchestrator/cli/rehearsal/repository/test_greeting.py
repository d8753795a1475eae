import unittest

from greeting import greet


class GreetingTest(unittest.TestCase):
    def test_greets_by_name(self) -> None:
        self.assertEqual(greet("Ada"), "Hello, Ada!")

    def test_an_empty_name_is_refused(self) -> None:
        with self.assertRaises(ValueError):
            greet("")


if __name__ == "__main__":
    unittest.main()
