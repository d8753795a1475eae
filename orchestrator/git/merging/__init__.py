"""Merges of two commits in a worktree of their own, and their results."""
