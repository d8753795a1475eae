"""The unified stop gate: may this session stop? Mechanical steps run first, a judge only if they pass."""
