"""The gates outside a run as lines: power steering, its use, promises."""
