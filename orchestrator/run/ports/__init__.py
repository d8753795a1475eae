"""What a run works with and does not make: places, the integration of work, commands, conversations."""
