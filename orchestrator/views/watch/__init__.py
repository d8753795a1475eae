"""`sq watch`: a run on the whole screen of a terminal, in a process of its own that only reads."""
