"""The roles of a run, one module each, with their prompts and the form of their results."""
