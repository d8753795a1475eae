"""Pull requests: the work of a run goes out as one, and what its review asks for comes back in."""
