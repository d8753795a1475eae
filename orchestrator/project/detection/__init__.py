"""Which commands verify a repository, as far as its files show. Nothing is run for this."""
