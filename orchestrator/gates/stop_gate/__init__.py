"""The unified stop gate: may this session stop? Mechanical steps first, a judge where it belongs."""
