"""Merges of two commits in a worktree of their own, and what came of each."""
