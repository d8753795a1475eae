"""Merging reviewed work into the merged work, with conflicts and the user's commits made meanwhile."""
