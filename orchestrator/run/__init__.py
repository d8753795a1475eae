"""One run: from a spec to an outcome."""
