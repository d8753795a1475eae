"""What a run holds in git, and removing it without losing work."""
