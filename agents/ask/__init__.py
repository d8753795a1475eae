"""One structured answer from a model: the port, and the ways to it (API, a process, blocking)."""
