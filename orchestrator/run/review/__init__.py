"""Reviews of tasks and of the whole, their findings, owners and consequences."""
