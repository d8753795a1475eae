"""What is remembered of a person's session between its stops, and its diagnostics."""
