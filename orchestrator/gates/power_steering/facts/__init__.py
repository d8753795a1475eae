"""Facts of a session, from its calls and their results: edits, commands, tests, git, todos."""
