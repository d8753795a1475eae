"""The proxy by which sandboxes reach open hosts: registries of packages, and those that users name."""
