"""The commands that work on a run (`run`, `resume`, `demo`) and their shared parts."""
