"""The sandbox of agents and commands: a plan of what a process may reach, enforced by bubblewrap."""
