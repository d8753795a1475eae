"""Which commands verify a repository, as far as its files show: nothing is run to find that out."""

from orchestrator.run.detection.commands import Detected, detect

__all__ = ["Detected", "detect"]
