"""Processes with all their descendants, and the supervisor that runs one."""
