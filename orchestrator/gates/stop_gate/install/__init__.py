"""The stop gate in Claude Code's settings: put in, taken out, its state reported."""
