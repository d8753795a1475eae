"""The steps of the stop gate, one module each."""
