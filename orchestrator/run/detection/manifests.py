"""The files that describe a Python project."""

MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg")
