"""Each event of a run in words: one description for all views, and mypy asks for it. One file a noun."""
