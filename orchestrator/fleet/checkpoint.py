"""A checkpoint: a commit from which a run goes on in another folder or on another host.

It holds the journal, the conversations of Claude Code and the few other files that a resumption reads, and
names as parents the commits of the run's branches and of the files that tasks have not committed yet.
Journal, refs and files are of one moment: if sq has decided anything meanwhile, the checkpoint is taken
again.

Conversations travel as Claude Code's own files. A `SessionStore` of the SDK would write them a second time,
in batches that no moment of the journal belongs to.

Whoever may push to the repository may write a checkpoint, so nothing of it names a place outside its folder.
"""

import fnmatch
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import anyio

from orchestrator.fleet.records import Unit
from orchestrator.fleet.transport import (
    GitServer,
    Workplace,
    blobs_at,
    commit_of,
    files_at,
    git_line,
    journal_ref,
    run_git,
)
from orchestrator.git.pinned import recorded_git
from orchestrator.git.pinned_config import trusting
from orchestrator.git.workspace import snapshot_aside
from state.errors import GitError, JournalError
from state.journal.transfer import Row, add_rows, as_lines, last_decision, rows_after, rows_in
from state.redaction.redactor import Redactor

# In a checkpoint: its parts, what of a run's folder a resumption reads, and the name of the place of a claim,
# which differs on each host. The rest is made anew, or holds no state.
CONTENT = FACTS, JOURNAL, FILES = "checkpoint.json", "journal", "files"
CARRIED = ("scenario.yaml", "rehearsal.jsonl", "summary.json", "notices/*", "claude/*/projects/**/*.jsonl")
ROOT = Path("/sq-fleet-work")
_SLUG = re.compile(r"[^a-zA-Z0-9]")


def renamed(old: Path, new: Path) -> Callable[[str], str]:
    """Return the function that names a new folder in place of an old one, also as Claude Code writes it."""
    pairs = ((str(old), str(new)), (_SLUG.sub("-", str(old)), _SLUG.sub("-", str(new))))

    def change(text: str) -> str:
        for before, after in pairs:
            text = text.replace(before, after)
        return text

    return change


_TREES = "trees"  # of which the events of this checkpoint tell. Those of earlier ones are in its parents
_OBJECT = re.compile(r"\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b")
_TRIES = 5


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
        return FACTS in self._entries

    def go_on_from(self, commit: str, run: str) -> None:
        """Make further checkpoints on top of one, whose run is in this place ("": it has none yet)."""
        self.last, self._entries = commit, blobs_at(self.place.repository, commit, *CONTENT)
        rows = rows_after(self.place.state / "runs" / run, 0) if run else []
        self._seq = max((row[0] for row in rows), default=0)

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
                tree = anyio.run(partial(snapshot_aside, worktree, lenient=True))
                head = git_line(self.place.repository, "rev-parse", _head_of(worktree))
                commit = commit_of(self.place.repository, tree, [head], "Work in progress")
                found[str(worktree.relative_to(self.place.root))] = [_head_of(worktree), head, commit]
        return found

    def _add_files(self, folder: Path) -> None:
        for pattern in CARRIED:
            for file in folder.glob(pattern):
                name = file.relative_to(folder)
                if file.resolve() != folder.resolve() / name or not file.is_file():
                    continue  # an agent's link could lead anywhere
                about = file.stat()
                if self._known.get(file) != (about.st_size, about.st_mtime_ns):
                    lines = file.read_text("utf-8", errors="replace").split("\n")
                    text = self._leave("\n".join(map(self._redacted, lines)))
                    self._add(f"{FILES}/{self._leave(str(name))}", text.encode())
                    self._known[file] = (about.st_size, about.st_mtime_ns)

    def _leave(self, text: str) -> str:
        """Return a text of this place as it stands in a checkpoint: each host puts its own place into it."""
        return renamed(self.place.root, ROOT)(text)

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
        for name, kind in {**dict.fromkeys(commits, "commit"), **named}.items():
            self._refuse_secrets(name, kind)
        if rows:
            left = as_lines((*row[:4], self._leave(row[4])) for row in rows)
            self._add(f"{JOURNAL}/{rows[0][0]:09}", left)
        facts = {"run": run, "refs": refs, "unfinished": unfinished}
        self._add(FACTS, json.dumps(facts, sort_keys=True).encode())
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

    def _refuse_secrets(self, name: str, kind: str) -> None:
        """Look at what a commit and those before it add and say, or what a tree has and the base has not."""
        if name in self._clean:
            return
        plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--unified=0", "--text")
        commits = ("log", "--cc", "--format=%w(0,1,1)%B", *plain, name, f"^{self.base}")
        words = commits if kind == "commit" else ("diff", *plain, self.base, name)
        changed = run_git(self.place.repository, *words, "--").decode(errors="replace")
        added = "\n".join(line for line in changed.splitlines() if line.startswith(("+", " ")))
        if self.redact.known(added) != added:
            raise SecretInWorkError(
                "the work holds a secret of this host, so nothing of it is pushed. "
                "Take the secret out of the worker's environment or out of the work."
            )
        self._clean.add(name)

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


_KEPT = re.compile("|".join(fnmatch.translate(one.replace("**/", "")) for one in CARRIED))
_RUN = re.compile(r"[0-9a-z][0-9a-z-]*")
_REF = re.compile(r"refs/(?:heads|sq|sq-rescue)/[^\s:]+|[0-9a-f]{40,64}")
_WORKTREE = re.compile(r"local/sq/worktrees/[^/]+/[^/]+/[^/]+")


def restore(files: Mapping[str, bytes], place: Workplace) -> str:
    """Make the run of a checkpoint in a place, whose repository has its commits. Return its id, or "".

    Raises:
        JournalError: the checkpoint is none that sq has made.
    """
    if not (run := run_in(files)):
        return ""
    facts, git = json.loads(files[FACTS]), place.repository
    write_run(files, place.state / "runs" / run, moved=renamed(ROOT, place.root))
    for name, target in facts["refs"].items():
        git_line(git, "update-ref", _checked(_REF, name), _checked(_REF, target))
    for path, (head, _, unfinished) in facts["unfinished"].items():
        worktree, name = place.root / _checked(_WORKTREE, path), _checked(_REF, head)
        branch = name.removeprefix("refs/heads/")
        where = [str(worktree)] if branch != name else ["--detach", str(worktree)]
        run_git(git, "worktree", "add", "--quiet", "--force", *where, branch)
        git_line(worktree, "read-tree", "--reset", "-u", _checked(_REF, unfinished))
        git_line(worktree, "read-tree", "--reset", "HEAD")
    return run


def write_run(files: Mapping[str, bytes], folder: Path, *, moved: Callable[[str], str] = str) -> None:
    """Write the folder of a run from the files of a checkpoint, or what is new in it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path, data in files.items():
        top, _, name = path.partition("/")
        if top == FILES:
            file = folder / _checked(_KEPT, moved(name))
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.write_text(moved(data.decode(errors="replace")), "utf-8")
    parts = [data for path, data in sorted(files.items()) if path.startswith(f"{JOURNAL}/")]
    add_rows(folder, [(*row[:4], moved(row[4])) for data in parts for row in rows_in(data)])


def run_in(files: Mapping[str, bytes]) -> str:
    """Return the id of the run in the files of a checkpoint, or "" while it has none.

    Raises:
        JournalError: the checkpoint is none that sq has made.
    """
    return _checked(_RUN, json.loads(files[FACTS])["run"]) if FACTS in files else ""


def _checked(pattern: re.Pattern[str], name: Any) -> str:  # noqa: ANN401  as JSON has it
    if not (isinstance(name, str) and pattern.fullmatch(name)) or ".." in PurePosixPath(name).parts:
        raise JournalError(f"the checkpoint names {name!r}, which no checkpoint of sq does")
    return name


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
