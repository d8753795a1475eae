"""Results that are kept: by the trees, the settings, the questions, sq's version and the environment.

They lie in the user's own state folder, which nobody else reads, and never in a repository.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from orchestrator.checks.order import CHECKS
from orchestrator.project.readiness.environment import look_into_python
from orchestrator.project.readiness.inputs import mark_of
from orchestrator.verify.ranges import Work
from state.atomic_files import replace_file
from state.errors import JournalError, UsageError
from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.journal.view import RunView
from state.paths import StateFolder, users_folder
from state.records.objections import Weight
from state.safe_paths import remove_tree
from state.settings.records import Settings

_NO_TIME = "limits.verify_total_s"  # is named where a question is left out for it
_KEYS, _MOST = "keys", 40  # verifications of a repository that are kept


def state_folder(repository: Path) -> StateFolder:
    """Return the folder of the verifications of a repository."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", repository.name).strip("-.") or "repository"
    mark = hashlib.sha256(str(repository).encode()).hexdigest()[:8]
    return StateFolder(users_folder() / "verify" / f"{name}-{mark}")


def key_of(
    work: Work,
    settings: Settings,
    texts: Iterable[str],
    *,
    version: str,
    environ: Mapping[str, str],
    held: str,
) -> str:
    """Return the name under which the result of a verification is kept.

    Args:
        work: the commits, and the trees.
        settings: all of them but the seconds that the questions may take.
        texts: the spec and its plan.
        version: of sq.
        environ: the environment, of which PATH, the programs and the packages of Python count.
        held: the sandbox.
    """
    path = environ.get("PATH", os.defpath)
    python = look_into_python(environ, path, not_run_in=[work.root])
    timeless = replace(settings, limits=replace(settings.limits, verify_total_s=0.0))
    facts = [
        *(work.base, work.base_tree, work.head, work.tree, version, held, path),
        *(one.name for one in CHECKS),
        str(python.packages() if python else ()),
        *(f"{name}={mark_of(shutil.which(name, path=path))}" for name in ("python3", "node", "git", "make")),
        *texts,
    ]
    told = msgspec.json.encode([timeless, facts])
    return hashlib.sha256(told).hexdigest()[:32]


def kept_run(state: StateFolder, key: str) -> tuple[Path, RunView] | None:
    """Return the verification that is kept under a key, or None. One that left something out is none."""
    try:
        run_id = (state.root / _KEYS / key).read_text("ascii").strip()
        folder = state.find(run_id)
        with JournalReader(folder) as journal:
            view = fold(journal.read())
    except (OSError, JournalError, UsageError):
        return None
    return (folder, view) if view.ended and not left_out(view) else None


def left_out(view: RunView) -> bool:
    """Whether a question was left out for want of time."""
    proofs = view.evidence.proofs.get(("", view.whole.tree))
    return any(
        one.weight is Weight.UNKNOWN and _NO_TIME in one.words
        for one in (proofs.objections if proofs else ())
    )


def keep(state: StateFolder, key: str, run_id: str) -> None:
    """Keep a verification under its key, and forget the oldest ones."""
    folder = state.root / _KEYS
    folder.mkdir(mode=0o700, exist_ok=True)
    replace_file(folder / key, run_id.encode(), sync=False)
    for old in state.run_ids()[:-_MOST]:
        if old != run_id:
            remove_tree(state.runs / old)
