"""The commands that make, just, npm, tox and other carriers run, read from the project's files."""
