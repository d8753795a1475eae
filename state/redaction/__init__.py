"""Takes secrets out of text: known values in every spelling, and unknown tokens by their format."""
