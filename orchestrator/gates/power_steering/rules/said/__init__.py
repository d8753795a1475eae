"""Reads words: announcements in a message, the user's requests, and the phrases that show them."""
