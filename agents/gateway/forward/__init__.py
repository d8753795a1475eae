"""Passes agents' requests on to the real API with the user's key, counts their cost, holds their budget."""
