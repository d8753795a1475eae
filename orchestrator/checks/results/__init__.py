"""The project's own commands on one tree: how they run, what their results mean, whether they count."""
