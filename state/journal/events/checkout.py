"""Events of the checkout: the user's own work kept and put back, the finished work delivered."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersWorkKept:
    """Without worktrees: a copy of all uncommitted work in the checkout was made, `commit` under `ref`.

    `base` is a commit of the whole checkout as it was, from which the run's own changes count. It is empty if
    the copy was made anew when the run was resumed. `ignored` is the number of ignored files copied into the
    run's folder, and `not_kept` the reason if there are none.
    """

    ref: str
    commit: str
    base: str
    paths: tuple[str, ...]
    ignored: int = 0
    not_kept: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersWorkRestored:
    """Changed parts of the user's uncommitted work were put back. The checkout holds `tree` afterwards.

    `ref` keeps the other version of the files `overwritten`, and commits that an agent made. `indexes` and
    `heads` name the repositories (`.`: the checkout) whose index, or HEAD and branch, were put back,
    `elsewhere` those whose HEAD the user has moved. `ignored` are ignored files that were put back, and their
    other versions are in the folder `replaced`. `problem`: why something could not be put back.
    """

    tree: str
    task_id: str = ""
    paths: tuple[str, ...] = ()
    overwritten: tuple[str, ...] = ()
    ref: str = ""
    indexes: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    replaced: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRescued:
    """Unfinished work of a task was in the way and is kept as `commit` under `ref`.

    `claimed`: its Worker had called it complete, and the run's time was over before it was verified.
    """

    task_id: str
    ref: str
    commit: str
    claimed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkCaughtUp:
    """The finished work was merged with the user's commits meanwhile (`onto`) and the result verified."""

    onto: str
    commit: str
    tree: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryStarted:
    """The user's branch is about to be moved to the finished work, if the checkout allows it."""

    branch: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkDelivered:
    """The user's branch was moved to the finished work."""

    branch: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkLeft:
    """The finished work is in the checkout, neither staged nor committed. `commit` holds the same tree."""

    ref: str
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkKept:
    """The finished work stays on sq's branch: why, and how to take it over."""

    branch: str
    commit: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFolderChanged:
    """Files by which git runs programs changed during the run. sq uses copies of its own.

    `paths` are all of them so far.
    """

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequestMade:
    """`sq pr` opened a pull request for the run's work, or brought it up to date (`is_new` False).

    `commit` is the work in it, `repository` is `OWNER/NAME`.
    """

    repository: str
    number: int
    url: str
    commit: str
    draft: bool
    is_new: bool


CheckoutEvent = (
    UsersWorkKept
    | UsersWorkRestored
    | WorkRescued
    | WorkCaughtUp
    | DeliveryStarted
    | WorkDelivered
    | WorkLeft
    | WorkKept
    | GitFolderChanged
    | PullRequestMade
)


@dataclass(slots=True)
class CheckoutView:
    """The user's checkout: their own work in it, and how the finished work came to it."""

    users_work: UsersWorkKept | None = None  # the newest copy of it
    own_base: str = ""  # without worktrees: the commit from which the run's own changes count
    left_tree: str = ""  # its tree at the last end of a process, "" if a Worker has changed it since
    delivered: WorkDelivered | None = None
    left: WorkLeft | None = None
    kept: WorkKept | None = None
    pull_request: PullRequestMade | None = None
    changed_git: tuple[str, ...] = ()  # files of the git folder that changed during the run

    @property
    def is_home(self) -> bool:
        """Whether the work is in its final place: the user's branch, the checkout, or sq's branch."""
        return bool(self.delivered or self.left or self.kept)
