"""`sq clean`: what can be removed, and removing it."""
