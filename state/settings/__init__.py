"""The configuration: keys, sources, presets, and the resulting records."""
