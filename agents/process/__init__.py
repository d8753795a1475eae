"""Process trees that end whole, and the supervisor that runs one."""
