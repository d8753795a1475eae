"""`sq` without a process of its own, which would cost half a second: the same entry, folder, environment and exit code."""

import contextlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess

from orchestrator.cli.main import main


def sq(arguments: Sequence[object], *, folder: Path, environ: Mapping[str, str]) -> CompletedProcess[str]:
    """Run a command that starts no run, and give back what it wrote and its exit code."""
    words = ["sq", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    before, typed, here = dict(os.environ), sys.argv, Path.cwd()
    try:
        os.environ.clear()
        os.environ.update(environ)
        os.chdir(folder)
        sys.argv = words
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            ThreadPoolExecutor(1) as thread,
        ):
            code = thread.submit(
                _exit_code
            ).result()  # a thread, since a test may have an event loop in this one
    finally:
        sys.argv = typed
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())


def _exit_code() -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    raise AssertionError("main ends with an exit code")
