"""Figures that documents and the CI quote, and evidence that a stranger repeats, with what tests need."""

import sys
from importlib.util import find_spec

if find_spec("psutil") is None:
    sys.exit(
        "benchmarks need what the tests need: bin/environment --dev, then .venv/bin/python -m benchmarks.NAME"
    )
