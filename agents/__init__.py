"""Talking to models: sessions, roles, the tools and permissions each role is given."""
