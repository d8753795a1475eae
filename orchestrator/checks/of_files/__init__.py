"""Questions that the files of a work answer, without a command."""
