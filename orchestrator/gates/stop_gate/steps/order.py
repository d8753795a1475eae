"""The steps of the gate, in their order."""

from types import ModuleType

from orchestrator.gates.stop_gate.steps import (
    available_work,
    beads,
    orchestrator,
    promises,
    steering,
    system3,
    todos,
)

# The first one that blocks wins. The last one never blocks.
STEPS: tuple[ModuleType, ...] = (promises, orchestrator, beads, todos, steering, system3, available_work)
