"""`sq gate`: power steering by hand on one session, on a data set, and its use so far."""
