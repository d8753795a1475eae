"""Installs the stop gate into Claude Code's settings, removes it, and reports its state."""
