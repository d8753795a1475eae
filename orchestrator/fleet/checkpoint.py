"""A checkpoint: a commit from which a run goes on in another folder or on another host.

It holds the journal, the conversations of Claude Code and the few other files that a resumption reads, and
names as parents the commits of the run's branches and of the files that tasks have not committed yet.
Journal, refs and files are of one moment: if sq has decided anything meanwhile, the checkpoint is taken
again.

Conversations travel as Claude Code's own files. A `SessionStore` of the SDK would write them a second time,
in batches that no moment of the journal belongs to.
"""

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from orchestrator.fleet.transport import blobs_at, commit_of, files_at, git_line, run_git
from orchestrator.git.pinned import recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.git.workspace import snapshot_aside
from state.errors import GitError, JournalError
from state.journal.transfer import Row, add_rows, as_lines, last_decision, rows_after, rows_in
from state.paths import SCRATCH
from state.redaction.redactor import Redactor

CONTENT = _FACTS, _JOURNAL, _FILES = "checkpoint.json", "journal", "files"
_TREES = "trees"  # of which the events of this checkpoint tell. Those of earlier ones are in its parents
_OBJECT = re.compile(r"\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b")
# Of a run's folder: what a resumption reads, and its conversations. The rest is made anew, or holds no state.
_CARRIED = ("scenario.yaml", "rehearsal.jsonl", "summary.json", "notices/*", "claude/*/projects/**/*.jsonl")
_TRIES = 5
_INTEGRATION = "run"  # the worktree that sq makes anew
ROOT = Path("/sq-fleet-work")  # in a checkpoint: the place of the claim, which differs on each host
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


class SecretInWorkError(GitError):
    """The work holds a secret of this host. It is not pushed."""


@dataclass(slots=True)
class Checkpoints:
    """The checkpoints that one worker takes of one run, each on top of the one before.

    `base` is the commit where the run began, `branch` its branch in the checkout, `last` the newest
    checkpoint.
    """

    place: Workplace
    base: str
    branch: str
    redact: Redactor
    last: str = ""
    _seq: int = 0
    _entries: dict[str, str] = field(default_factory=dict)  # by path in the checkpoint: the blob
    _known: dict[Path, tuple[int, int]] = field(default_factory=dict)  # size and time of files that are in it
    _clean: set[str] = field(default_factory=set)  # commits without a secret

    def take(self, message: str) -> str:
        """Return a new checkpoint, or "" if the run has no journal yet or does not hold still.

        Raises:
            SecretInWorkError: a known secret is in the work.
        """
        folder = self.place.run_folder
        if folder is None:
            return ""
        for _ in range(_TRIES):
            try:
                if not (moment := last_decision(folder)):
                    return ""
                refs, unfinished = self._refs(), self._unfinished(folder)
                self._add_files(folder)
                rows = rows_after(folder, self._seq)
                if last_decision(folder) == moment:
                    return self._committed(folder.name, refs, unfinished, rows, message)
            except SecretInWorkError:
                raise
            except (GitError, JournalError, OSError):  # a worktree went meanwhile
                continue
        return ""

    @property
    def has_run(self) -> bool:
        """Whether the newest checkpoint holds a run."""
        return _FACTS in self._entries

    def claim(self, message: str) -> str:
        """Return a checkpoint that changes nothing of the last one: whoever pushes it has the run."""
        tree = (
            git_line(self.place.repository, "rev-parse", f"{self.last}^{{tree}}")
            if self.last
            else self._tree()
        )
        return commit_of(self.place.repository, tree, [self.last] if self.last else [], message)

    def _refs(self) -> dict[str, str]:
        words = (
            "for-each-ref",
            "--format=%(objectname) %(refname)",
            "refs/heads",
            "refs/sq",
            "refs/sq-rescue",
        )
        lines = run_git(self.place.repository, *words).decode().splitlines()
        found = {name: commit for commit, name in (line.split(" ") for line in lines)}
        found.pop(f"refs/heads/{self.branch}", None)
        return found

    def _unfinished(self, folder: Path) -> dict[str, list[str]]:
        """Return, by path, the commit of each task's worktree and one of all its files.

        No hook or filter runs.
        """
        found: dict[str, list[str]] = {}
        with trusting(recorded_git(folder)):
            for worktree in self.place.worktrees(folder.name):
                tree = anyio.run(_snapshot, worktree)
                head = git_line(self.place.repository, "rev-parse", _head_of(worktree))
                commit = commit_of(self.place.repository, tree, [head], "Work in progress")
                found[str(worktree.relative_to(self.place.root))] = [_head_of(worktree), head, commit]
        return found

    def _add_files(self, folder: Path) -> None:
        for pattern in _CARRIED:
            for file in folder.glob(pattern):
                about = file.stat()
                if self._known.get(file) != (about.st_size, about.st_mtime_ns) and file.is_file():
                    lines = file.read_text("utf-8", errors="replace").split("\n")
                    text = self._leave("\n".join(map(self._redacted, lines)))
                    self._add(f"{_FILES}/{self._leave(str(file.relative_to(folder)))}", text.encode())
                    self._known[file] = (about.st_size, about.st_mtime_ns)

    def _leave(self, text: str) -> str:
        """Return a text of this place as it stands in a checkpoint: each host puts its own place into it."""
        return _renamed(self.place.root, ROOT)(text)

    def _redacted(self, line: str) -> str:
        """Return a line without secrets.

        One of JSON stays JSON, because each text in it is looked at by itself.
        """
        if self.redact(line) == line:
            return line
        try:
            return json.dumps(_mapped(json.loads(line), self.redact), ensure_ascii=False)
        except ValueError:
            return self.redact(line)

    def _committed(
        self, run: str, refs: dict[str, str], unfinished: dict[str, list[str]], rows: list[Row], message: str
    ) -> str:
        commits = [*refs.values(), *(one[2] for one in unfinished.values())]
        named = self._named_in(rows)
        for commit in dict.fromkeys([*commits, *named]):
            self._refuse_secrets(commit)
        if rows:
            left = as_lines((*row[:4], self._leave(row[4])) for row in rows)
            self._add(f"{_JOURNAL}/{rows[0][0]:09}", left)
        facts = {"run": run, "refs": refs, "unfinished": unfinished}
        self._add(_FACTS, json.dumps(facts, sort_keys=True).encode())
        parents = [
            *([self.last] if self.last else []),
            *commits,
            *(one for one in named if named[one] == "commit"),
        ]
        trees = [one for one in named if named[one] == "tree"]
        made = commit_of(self.place.repository, self._tree(trees), list(dict.fromkeys(parents)), message)
        self._seq = rows[-1][0] if rows else self._seq
        self.last = made
        return made

    def _named_in(self, rows: list[Row]) -> dict[str, str]:
        """Return the commits and trees that events name, with their kinds. No ref needs to lead to them."""
        found = dict.fromkeys(one for row in rows for one in _OBJECT.findall(row[4]))
        out = run_git(self.place.repository, "cat-file", "--batch-check", stdin="\n".join(found).encode())
        kinds = {name: kind for name, kind, *_ in (line.split(" ") for line in out.decode().splitlines())}
        return {name: kind for name, kind in kinds.items() if kind in {"commit", "tree"}}

    def _refuse_secrets(self, commit: str) -> None:
        if commit in self._clean:
            return
        words = (
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--unified=0",
            "--text",
            self.base,
            commit,
        )
        changed = run_git(self.place.repository, *words, "--").decode(errors="replace")
        added = "\n".join(line for line in changed.splitlines() if line.startswith("+"))
        if self.redact.known(added) != added:
            raise SecretInWorkError(
                "the work holds a secret of this host, so nothing of it is pushed. Look at the files in "
                f"{self.place.root}, and take the secret out of the worker's environment"
            )
        self._clean.add(commit)

    def _add(self, path: str, data: bytes) -> None:
        self._entries[path] = git_line(self.place.repository, "hash-object", "-w", "--stdin", stdin=data)

    def _tree(self, trees: Sequence[str] = ()) -> str:
        """Return the tree of the files. It holds `trees` too, so that they are pushed and fetched with it."""
        index = self.place.root / "checkpoint.index"
        index.unlink(missing_ok=True)
        lines = "".join(f"100644 {blob}\t{path}\0" for path, blob in sorted(self._entries.items()))
        more = {"GIT_INDEX_FILE": str(index)}
        run_git(self.place.repository, "update-index", "-z", "--index-info", stdin=lines.encode(), more=more)
        tree = git_line(self.place.repository, "write-tree", more=more)
        if not trees:
            return tree
        held = "".join(f"040000 tree {one}\t{one}\n" for one in trees)
        inner = git_line(self.place.repository, "mktree", stdin=held.encode())
        top = run_git(self.place.repository, "ls-tree", tree).decode() + f"040000 tree {inner}\t{_TREES}\n"
        return git_line(self.place.repository, "mktree", stdin=top.encode())

    def restore(self, commit: str) -> str:
        """Make the run of a checkpoint in this place, whose repository has the commit, and return its id.

        "" if it has none yet. Further checkpoints are made on top of this one.
        """
        self.last = commit
        self._entries = blobs_at(self.place.repository, commit, *CONTENT)
        files = files_at(self.place.repository, commit, *CONTENT)
        if _FACTS not in files:
            return ""
        facts = json.loads(files[_FACTS])
        folder = self.place.state / "runs" / facts["run"]
        write_run(files, folder, moved=_renamed(ROOT, self.place.root))
        for name, target in facts["refs"].items():
            git_line(self.place.repository, "update-ref", name, target)
        for path, (head, _, unfinished) in facts["unfinished"].items():
            self._restore_worktree(self.place.root / path, head, unfinished)
        self._seq = max((row[0] for row in rows_after(folder, 0)), default=0)
        return str(facts["run"])

    def _restore_worktree(self, worktree: Path, head: str, unfinished: str) -> None:
        name = head.removeprefix("refs/heads/")
        path = [str(worktree)] if name != head else ["--detach", str(worktree)]
        run_git(self.place.repository, "worktree", "add", "--quiet", "--force", *path, name)
        git_line(worktree, "read-tree", "--reset", "-u", unfinished)
        git_line(worktree, "read-tree", "--reset", "HEAD")


async def _snapshot(worktree: Path) -> str:
    return await snapshot_aside(worktree, lenient=True)


def _head_of(worktree: Path) -> str:
    """Return the branch of a worktree as a ref, or its commit if it has none."""
    pointer = (worktree / ".git").read_text("utf-8").removeprefix("gitdir: ").strip()
    head = (Path(pointer) / "HEAD").read_text("utf-8").strip()
    return head.removeprefix("ref: ")


def _mapped(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_mapped(one, change) for one in value]
    if isinstance(value, dict):
        return {change(key): _mapped(one, change) for key, one in value.items()}
    return value


def _renamed(old: Path, new: Path) -> Callable[[str], str]:
    """Return the function that names a new folder in place of an old one, also as Claude Code writes it."""
    pairs = ((str(old), str(new)), (_SLUG.sub("-", str(old)), _SLUG.sub("-", str(new))))

    def change(text: str) -> str:
        for before, after in pairs:
            text = text.replace(before, after)
        return text

    return change


def write_run(files: dict[str, bytes], folder: Path, *, moved: Callable[[str], str] = str) -> None:
    """Write the folder of a run from the files of a checkpoint, or what is new in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path, data in files.items():
        top, _, name = path.partition("/")
        if top == _FILES:
            file = folder / moved(name)
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.write_text(moved(data.decode(errors="replace")), "utf-8")
    add_rows(folder, [(*row[:4], moved(row[4])) for row in journal_rows(files)])


def journal_rows(files: dict[str, bytes]) -> Iterator[Row]:
    """Yield the rows of the journal in the files of a checkpoint."""
    for path, data in sorted(files.items()):
        if path.startswith(f"{_JOURNAL}/"):
            yield from rows_in(data)


def run_in(files: dict[str, bytes]) -> str:
    """Return the id of the run in the files of a checkpoint, or "" while it has none."""
    return str(json.loads(files[_FACTS])["run"]) if _FACTS in files else ""


def remove(place: Workplace) -> None:
    """Remove the folder of a claim whose work is pushed."""
    shutil.rmtree(place.root, ignore_errors=True)
