"""Which limits of a sandbox the kernel enforces here."""

import os

from agents.process.containment import Containment
from agents.process.supervisor import has_own_pid_limit


def limits_that_hold(containment: Containment) -> str:
    """Return one sentence for people about the limits on processes, memory and files."""
    if containment is Containment.NAMESPACES and has_own_pid_limit():
        processes = "the number of processes is limited by their PID namespace"
    elif os.geteuid() == 0:
        processes = "the number of processes is limited by RLIMIT_NPROC alone: not as root"
    else:
        processes = "the number of processes is limited by RLIMIT_NPROC"
    return f"{processes[0].upper()}{processes[1:]}, the size of a file by RLIMIT_FSIZE"
