"""Completion promises: their records, their store, and the evidence that sq collects for them."""
