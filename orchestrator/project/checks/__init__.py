"""Checks that are no tests: which of them a repository configures, and their complaints."""
