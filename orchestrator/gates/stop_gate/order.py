"""The steps of the gate, in their order, each with its name."""

from enum import IntEnum

from orchestrator.gates.stop_gate.steps import (
    available_work,
    beads,
    orchestrator,
    promises,
    steering,
    system3,
    todos,
    verification,
)
from orchestrator.gates.stop_gate.stop import GateStep


class Priority(IntEnum):
    """The steps by name, as in seed 003. A number repeats the name (P2_5: 25). `STEPS` has the order."""

    P1_PROMISE = 10
    P2_5_ORCHESTRATOR = 25
    P2_BEADS = 20
    P3_TODOS = 30
    P3_2_STEERING = 32
    P3_3_VERIFY = 33
    P3_5_SYSTEM3_JUDGE = 35
    AVAILABLE_WORK = 90


# The first one that blocks wins. The last one never blocks.
STEPS: dict[Priority, GateStep] = {
    Priority.P1_PROMISE: promises,
    Priority.P2_5_ORCHESTRATOR: orchestrator,
    Priority.P2_BEADS: beads,
    Priority.P3_TODOS: todos,
    Priority.P3_2_STEERING: steering,
    Priority.P3_3_VERIFY: verification,
    Priority.P3_5_SYSTEM3_JUDGE: system3,
    Priority.AVAILABLE_WORK: available_work,
}
