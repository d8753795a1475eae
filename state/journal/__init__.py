"""The record of a run: its events, how they are stored, and the view that follows from them."""
