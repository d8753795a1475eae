"""One session with Claude Code: its process, typed tools, permissions, and results."""
