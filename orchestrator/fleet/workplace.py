"""The folder of one claim of a run, and what of it a checkpoint carries, under which names."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from state.paths import SCRATCH

# In a checkpoint: its parts, what of a run's folder a resumption reads, and the name of the place of a claim,
# which differs on each host. The rest is made anew, or holds no state.
CONTENT = FACTS, JOURNAL, FILES = "checkpoint.json", "journal", "files"
CARRIED = ("scenario.yaml", "rehearsal.jsonl", "summary.json", "notices/*", "claude/*/projects/**/*.jsonl")
ROOT = Path("/sq-fleet-work")
_INTEGRATION = "run"  # the worktree that sq makes anew
_SLUG = re.compile(r"[^a-zA-Z0-9]")


@dataclass(frozen=True, slots=True)
class Workplace:
    """The folder of one claim, `root`: the checkout, the state of its one run, and its worktrees."""

    root: Path

    @property
    def repository(self) -> Path:
        """The checkout."""
        return self.root / "repository"

    @property
    def state(self) -> Path:
        """The state folder of sq."""
        return self.root / "state"

    @property
    def home(self) -> Path:
        """The folder where sq keeps worktrees (`XDG_STATE_HOME`)."""
        return self.root / "local"

    @property
    def run_folder(self) -> Path | None:
        """The folder of the run, once it has a journal."""
        return next((one.parent for one in (self.state / "runs").glob("*/journal.db")), None)

    def worktrees(self, run: str) -> list[Path]:
        """Return the worktrees of tasks, which may hold work that is not committed."""
        found = self.home.glob(f"sq/worktrees/*/{run}/*")
        return sorted(
            one
            for one in found
            if one.name != _INTEGRATION and not one.name.startswith(SCRATCH) and (one / ".git").is_file()
        )

    def remove(self) -> None:
        """Remove it and those of earlier claims of this run here, whose work is pushed."""
        for claim in self.root.parent.glob(f"{self.root.name.rpartition('-')[0]}-*"):
            shutil.rmtree(claim, ignore_errors=True)


def renamed(old: Path, new: Path) -> Callable[[str], str]:
    """Return the function that names a new folder in place of an old one, also as Claude Code writes it."""
    pairs = ((str(old), str(new)), (_SLUG.sub("-", str(old)), _SLUG.sub("-", str(new))))

    def change(text: str) -> str:
        for before, after in pairs:
            text = text.replace(before, after)
        return text

    return change
