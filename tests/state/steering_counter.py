"""Stands for hooks at work: `steering_counter.py FOLDER COUNT` counts that many blocks of the session "busy"."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from orchestrator.gates.session_state.store import SteeringStore

store = SteeringStore(Path(sys.argv[1]), "busy", environ={"SQ_PS_NO_FSYNC": "1"}, lock_wait_s=60)
sys.stdout.write("ready\n")
sys.stdout.flush()
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    saved = store.count_block("the prompt")
    assert saved.stored, saved
