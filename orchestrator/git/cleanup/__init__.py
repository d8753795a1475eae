"""The things that a run holds in git, and removing them without losing work."""
