"""What carriers run: make, just, npm, tox and such, read from the project's files, one file a form."""
