"""Decision points: is this done, may this session stop? Verdicts with reasons, gathered under deadlines."""
