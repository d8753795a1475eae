"""Where a run's work happens: worktrees or the user's checkout, set up and protected."""
