"""Power steering: a session that claims to be done is checked against considerations (seeds 000 and 001)."""
