"""Shows runs and gates to people: folds over events, without state of their own."""
