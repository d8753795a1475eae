"""Claude Code behind the port to agents: its process, sandbox, callbacks, results and transcripts."""
