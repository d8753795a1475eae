"""What makes a worktree ready for work, by its lock files and manifests, and what commands in it need."""

from orchestrator.run.readiness.plan import Plan, key_of_list, plan_of
from orchestrator.run.readiness.steps import Step

__all__ = ["Plan", "Step", "key_of_list", "plan_of"]
