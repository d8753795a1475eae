"""Which commands verify a repository, as far as its files show. Nothing is run for this."""

from orchestrator.project.detection.commands import Detected, detect

__all__ = ["Detected", "detect"]
