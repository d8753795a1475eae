"""Reviewed work becomes part of the merged work; conflicts, and the user's commits meanwhile."""
