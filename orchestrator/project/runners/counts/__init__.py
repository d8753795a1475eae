"""How many tests ran, failed and were left out, read from what a runner printed or reported."""
