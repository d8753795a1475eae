"""The places of a run's work: worktrees or the user's checkout, set up and protected."""
