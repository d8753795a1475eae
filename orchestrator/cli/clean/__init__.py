"""`sq clean`: finds and removes the remains of runs."""
