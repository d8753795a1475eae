"""How a worktree is made ready, by its lock files and manifests, and which variables its commands need."""

from orchestrator.project.readiness.plan import SetUpPlan, key_of_list, plan_of, plan_without_ignored
from orchestrator.project.readiness.steps import SetUpStep

__all__ = ["SetUpPlan", "SetUpStep", "key_of_list", "plan_of", "plan_without_ignored"]
