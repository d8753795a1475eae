"""`sq gate`: power steering by hand, on one session or a data set, and statistics of its use."""
