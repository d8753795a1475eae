"""The user's checkout: uncommitted work copied, compared, put back; submodules, and rules for commits."""
