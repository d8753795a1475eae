"""Deciding: what happens next in a run, and how people see it."""
