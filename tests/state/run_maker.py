"""Stands for another sq: makes runs in a state folder and prints their ids. `run_maker.py FOLDER COUNT`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from state.paths import StateFolder

for _ in range(int(sys.argv[2])):
    run_id, _folder = StateFolder(Path(sys.argv[1])).new_run()
    sys.stdout.write(f"{run_id}\n")
