"""The hostile runs, each made once."""

from hostile_runs import commanded, within, without_sandbox

__all__ = ["commanded", "within", "without_sandbox"]
