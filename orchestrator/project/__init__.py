"""A project as sq knows it: its build files, its test runners, the commands that verify it and set it up."""
