"""A run as people see it: the story, the overview, details, decisions, cost."""
