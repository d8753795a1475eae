"""What the project's own commands say of a tree, and how far that can be believed."""
