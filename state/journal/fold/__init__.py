"""A fold over a run's events, without input or output, one file a noun: it fills `state.journal.view`."""
