"""A run as plain lines, one file a noun: the lines that each event adds to the story."""
