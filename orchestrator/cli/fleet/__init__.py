"""`sq fleet`: submit runs to a database, work on them, and look at them."""
