"""Specs with planted faults and specs without, to measure what `sq check` finds."""
