"""`sq gate`: power steering by hand, on one session, and statistics of its use."""
