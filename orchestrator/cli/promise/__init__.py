"""`sq promise`: make, show, check and end promises of a session."""
