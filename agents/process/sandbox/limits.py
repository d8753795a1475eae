"""Which limits of a sandbox the kernel enforces here."""

import os

from agents.process.containment import Containment
from agents.process.sandbox.control_groups import control_groups
from agents.process.supervisor import has_own_pid_limit
from state.settings.records import SandboxLimits


def limits_that_hold(containment: Containment) -> str:
    """Return one sentence for people about the limits on processes, memory and files."""
    if containment is Containment.NAMESPACES and has_own_pid_limit():
        processes = "the number of processes is limited by their PID namespace"
    elif os.geteuid() == 0:
        processes = "the number of processes is limited by RLIMIT_NPROC alone: not as root"
    else:
        processes = "the number of processes is limited by RLIMIT_NPROC"
    with control_groups(f"probe-{os.getpid()}", SandboxLimits(processes=1_000, memory_mb=1_000)) as groups:
        found = groups.limits
    if "processes" in found:
        processes = "the number of processes is limited by a control group"
    memory = (
        "memory by a control group"
        if "memory" in found
        else "memory by nothing: no control group can be made"
    )
    return f"{processes[0].upper()}{processes[1:]}, {memory}, the size of a file by RLIMIT_FSIZE"
