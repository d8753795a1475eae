"""How a worktree is made ready, by its lock files and manifests, and which variables its commands need."""

from orchestrator.run.readiness.plan import Plan, key_of_list, plan_of
from orchestrator.run.readiness.steps import Step

__all__ = ["Plan", "Step", "key_of_list", "plan_of"]
