"""How a worktree is made ready, by its lock files and manifests, and which variables its commands need."""
