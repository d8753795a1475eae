"""The texts of `sq watch`: a task from each of its sides, and the sheets that lie over the screen."""
