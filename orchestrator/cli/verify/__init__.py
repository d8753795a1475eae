"""`sq verify`."""
