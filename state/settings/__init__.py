"""The configuration: keys, sources, presets, and the records they end in."""
