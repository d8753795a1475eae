"""The results of the project's own commands on a tree, and how reliable they are."""
