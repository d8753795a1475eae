"""Git as sq uses it: by command, with an identity of its own, never in the user's index."""
