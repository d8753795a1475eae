"""The user's uncommitted work: copied to the byte, compared, put back."""
