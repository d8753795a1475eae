"""The spec as tasks, on what is known of the repository."""
