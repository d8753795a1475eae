"""The hostile runs, each made once."""

from hostile_runs import within, without_sandbox

__all__ = ["within", "without_sandbox"]
