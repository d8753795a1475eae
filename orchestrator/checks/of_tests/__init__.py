"""Questions about the tests: whether those of the base hold as they were, whether new ones could say no."""
