"""The report of a run: one file each for a browser, a pull request, a terminal, and machines."""
