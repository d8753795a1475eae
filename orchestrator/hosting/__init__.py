"""The service that hosts a repository: its issues, pull requests and checks, with the user's own rights.

Nothing here is in the reach of an agent. What the service returns is material of unknown origin.
"""
