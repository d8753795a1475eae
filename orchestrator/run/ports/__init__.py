"""What a run works with and does not make itself: places, the integration of work, commands, conversations."""
