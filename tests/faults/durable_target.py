"""What is killed or given errors: `durable_target.py FOLDER` counts one block of the session "s".

It names the place in the list of system calls where the work begins and ends by asking for a file that is not there.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import encodings.idna  # noqa: F401  nothing is to be imported later

from orchestrator.gates.session_state.store import SteeringStore

folder = Path(sys.argv[1])
store = SteeringStore(folder, "s", retry_delays=(0.0,))
os.access("/the-work-begins", os.F_OK)
saved = store.count_block("p")
os.access("/the-work-ends", os.F_OK)
sys.stdout.write(f"{int(saved.code)} {int(saved.stored)} {saved.retry_count}\n")
