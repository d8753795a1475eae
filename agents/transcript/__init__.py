"""A session's transcript: read into turns, and rendered for a judge."""
