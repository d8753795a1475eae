"""One attempt at a task, from the Worker's first prompt to a claim that the gates accept."""
