"""A clock on the wall that jumps, for processes of `sq`: as when the machine slept, or its time was set."""

import shutil
import subprocess
from pathlib import Path

from language.tables import table

NO_COMPILER = "a clock that jumps needs a C compiler (.ci/install-tools installs one)"

# Moves the wall clock of a process by the seconds that a file says, and no other clock.
_CLOCK = table(__file__, "clock")


def jumping_clock(clock: Path) -> dict[str, str]:
    """The variables of a process whose clock is off by the seconds in the file `clock`. Empty without a C compiler."""
    library = clock.with_suffix(".so")
    build = ["cc", "-shared", "-fPIC", "-o", str(library), "-x", "c", "-"]
    if not shutil.which("cc") or subprocess.run(build, input=_CLOCK.encode(), check=False).returncode:
        return {}
    clock.write_text("0")
    return {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(clock)}
