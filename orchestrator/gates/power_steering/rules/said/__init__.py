"""Readings of words: what a message announces, what the user asks for, and the phrases that show it."""
