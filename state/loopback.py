"""The names of this machine's loopback."""

LOOPBACK = "127.0.0.1"
NAMES = frozenset({LOOPBACK, "localhost", "::1"})
