"""The stored state of a person's session between its stops, and its diagnostics."""
