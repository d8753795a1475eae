"""Power steering measured on labelled sessions."""
