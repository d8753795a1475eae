"""Commands before the night: the spec questioned, the plan shown and approved."""
