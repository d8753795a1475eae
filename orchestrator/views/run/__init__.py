"""Shows a run to people: the story, the overview, details, decisions, cost."""
