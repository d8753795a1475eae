"""The places of a run that a person should look at, computed from its events, one file a kind."""
