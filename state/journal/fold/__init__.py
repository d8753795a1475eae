"""A fold over a run's events, without input or output, one file a noun. It fills `state.journal.view`."""
