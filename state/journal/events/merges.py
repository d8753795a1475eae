"""Events of merges: a task's work becomes part of the merged work."""

from dataclasses import dataclass, field

from state.records.work import FileChange


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeStarted:
    """A reviewed commit is about to be merged onto `onto`, the newest merged work: one at a time."""

    task_id: str
    commit: str
    onto: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeConflicted:
    """Git cannot merge these paths by itself, so a resolver session does, in the integration worktree."""

    task_id: str
    commit: str
    onto: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolutionRefused:
    """The resolver's claim does not hold: git, the files or the verification say otherwise."""

    task_id: str
    commit: str
    onto: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeBuilt:
    """The merged commit exists and passes the verification. The run's branch is about to move to it.

    `united` are files to which both sides only added lines at the same places, so both additions are kept.
    `summary` is the Resolver's account of the resolution of its conflict, `noticed` its remarks on other
    code.
    """

    task_id: str
    commit: str
    tree: str
    onto: str
    united: tuple[str, ...] = ()
    summary: str = ""
    noticed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeFailed:
    """A merge was given up and undone. The run's branch did not move."""

    task_id: str
    commit: str
    onto: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMerged:
    """A task's work is part of the run's branch, as `commit` on `onto` (empty: on the task's base)."""

    task_id: str
    commit: str
    tree: str
    onto: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkMeasured:
    """The size of the work from `base` to `commit`: of one merge of a task, or with "" of the whole so far.

    `added` and `removed` count the lines of all files. `files` are the first of them by path, and `left_out`
    the number of the others.
    """

    task_id: str
    base: str
    commit: str
    files: tuple[FileChange, ...]
    added: int
    removed: int
    left_out: int = 0


MergeEvent = (
    MergeStarted | MergeConflicted | ResolutionRefused | MergeBuilt | MergeFailed | TaskMerged | WorkMeasured
)


@dataclass(slots=True)
class MergeView:
    """A task's merge under way. `refusals` are wrong claims that its conflict is resolved."""

    commit: str
    onto: str
    conflict: MergeConflicted | None = None
    refusals: list[ResolutionRefused] = field(default_factory=list)
    built: MergeBuilt | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths that git could not merge by itself."""
        return self.conflict.paths if self.conflict else ()
