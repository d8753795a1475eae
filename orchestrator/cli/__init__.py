"""The `sq` command: parse, call, exit code."""
