"""A fold over a run's events, without input or output. It fills `state.journal.view`."""
