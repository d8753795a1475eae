"""What people see of a run: folds over its events, with no state of their own."""
