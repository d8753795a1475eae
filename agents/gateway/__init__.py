"""A loopback Messages API server between the agents and the model, so that a run can be rehearsed."""
