"""The run of a submission as it was last pushed, brought into a state folder here, to be looked at."""

import hashlib
from pathlib import Path

from orchestrator.fleet.records import Unit
from orchestrator.fleet.restored import run_in, write_run
from orchestrator.fleet.transport import GitServer, files_at, git_line, journal_ref
from orchestrator.fleet.workplace import CONTENT

_SEEN = "seen"


def fetched(unit: Unit, state: Path) -> Path | None:
    """Bring the newest checkpoint of a run into `state`, and return the run's folder. None: it has none yet.

    Raises:
        RemoteAwayError: the git server does not answer.
    """
    remote = GitServer(unit.submission.repository, patience_s=0.0)
    ref = journal_ref(unit.id)
    commit = remote.refs(ref).get(ref, "")
    if not commit:
        return None
    copy = state / "git" / f"{hashlib.sha256(remote.url.encode()).hexdigest()[:16]}.git"
    seen = copy / _SEEN / unit.id
    if seen.exists() and seen.read_text("ascii").split()[0] == commit:
        return state / "runs" / seen.read_text("ascii").split()[1]
    if not copy.exists():
        copy.mkdir(mode=0o700, parents=True)
        git_line(copy, "init", "--quiet", "--bare", ".")
    remote.fetch(copy, f"+{ref}:{ref}")
    files = files_at(copy, commit, *CONTENT)
    run = run_in(files)
    if not run:
        return None
    write_run(files, state / "runs" / run)
    seen.parent.mkdir(exist_ok=True)
    seen.write_text(f"{commit} {run}\n", "ascii")
    return state / "runs" / run
