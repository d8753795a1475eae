"""Notices to people: which are due by the events of a run, their words, and how they are sent."""
