"""sq's note on a worktree: whether it is set up, beside its index, where no agent of a sandbox can write."""

from dataclasses import dataclass
from pathlib import Path

from orchestrator.project.readiness.steps import downloads_of
from state.safe_paths import write_inside


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """sq's note on a worktree: `state` says whether its set-up is done, and for which key.

    `keys` are those of the steps that were done, `apart` of those whose downloads were made apart.
    """

    state: str = ""
    keys: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()


def read_note(marker: Path) -> Noted:
    """Return the note, an empty one if there is none."""
    lines = marker.read_text("utf-8").splitlines() if marker.exists() else []
    state, keys, apart = [*lines, "", "", ""][:3]
    return Noted(state=state, keys=tuple(keys.split()), apart=tuple(apart.split()))


def write_note(marker: Path, noted: Noted) -> None:
    """Write the note, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    text = f"{noted.state}\n{' '.join(noted.keys)}\n{' '.join(noted.apart)}\n"
    write_inside(marker.parent, marker.name, text.encode())


def is_lost(kept: Path, noted: Noted) -> bool:
    """Whether downloads of an earlier process are gone, which the run's end has removed."""
    return any(not (downloads_of(kept) / key).is_dir() for key in noted.apart)
