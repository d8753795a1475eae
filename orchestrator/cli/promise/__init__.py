"""`sq promise`: promises of a session made, shown, checked and ended."""
