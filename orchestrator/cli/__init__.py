"""The `sq` command: parses the command line, calls, and sets the exit code."""
