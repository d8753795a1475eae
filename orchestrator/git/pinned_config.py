"""Git folders as sq knew them before any agent worked: each git command of a run is given them by name.

An agent may replace the `.git` of its worktree, and without a sandbox it may change the settings, hooks and
attributes of the repository. Git then runs with `GIT_DIR`, `GIT_WORK_TREE` and `GIT_COMMON_DIR`, so that it
looks for none of them. The common folder is one of sq's own (`orchestrator.git.pinned`): its settings and
attributes are copies, it has no hooks, and its objects and refs are links to those of the repository.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agents.process.frozen import is_living
from state.errors import GitError

PLACES = "sq-places"  # in sq's common folder: for each worktree a file with the name of its git folder
RESTORED = "sq-restored"  # likewise: the paths that sq has put right, a line each
_REPLACED = "sq-replaced"  # likewise: other content that was in the place of the `.git` of a worktree
_POINTER = "gitdir: "
_NESTED = "sq-nested"
# Git asks for none of the settings outside the common folder, whose copy holds them all.
_NO_OTHER_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_now: ContextVar["TrustedGit | None"] = ContextVar("trusted_git", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedGit:
    """The git folders of a run.

    `root` is the checkout with its git folder `own`, `common` the folder that all worktrees share, `folder`
    the one of sq's own that replaces it. `worktrees` is the folder of the run's worktrees, if it has any.
    """

    root: Path
    own: Path
    common: Path
    folder: Path
    worktrees: Path | None = None

    def git_dir(self, place: Path) -> Path:
        """Return the git folder of the checkout or of a worktree.

        A worktree that a killed process has made is noted now: no agent has worked there yet.

        Raises:
            GitError: it is neither, or something else stands in its place.
        """
        if place == self.root:
            return self._with_common(self.own)
        if place.is_symlink():
            raise GitError(
                f"{place} should be a worktree and is a link to {place.readlink()}: remove the link"
            )
        noted = self.folder / PLACES / place.name
        name = noted.read_text("utf-8") if noted.is_file() else self._found_in(place)
        found = self.common / "worktrees" / name
        if not found.is_dir() or found.is_symlink():
            raise GitError(f"{place} is not a worktree of sq's: its git folder {found} is gone")
        return self._with_common(found)

    def _with_common(self, own: Path) -> Path:
        """Let a git folder name the common one in its file too: git finds the refs by that alone."""
        named = own / "commondir"
        text = "" if own == self.common else os.path.relpath(self.common, own)
        try:
            found = named.read_text("utf-8", errors="replace").strip() if _is_plain(named) else None
        except OSError:
            found = None
        is_right = not os.path.lexists(named) if own == self.common else found in {text, str(self.common)}
        if not is_right:
            self._replace(named, f"{text}\n" if text else "")
        return own

    def _replace(self, path: Path, text: str) -> None:
        """Put a text in place of a path, or nothing. sq's folder keeps its content and notes the path.

        What is missing or empty is not noted: a git of sq's that was killed leaves that.
        """
        if _is_plain(path) and not path.stat().st_size:
            path.unlink()
        if os.path.lexists(path):
            with (self.folder / RESTORED).open("a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(f"{path}\n")
            aside = self.folder / _REPLACED
            aside.mkdir(exist_ok=True)
            shutil.move(path, aside / f"{path.parent.name}.{uuid.uuid4().hex}")
        if text:
            new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
            with os.fdopen(new, "w", encoding="utf-8") as file:
                file.write(text)

    def note_worktree(self, place: Path) -> None:
        """Note the git folder of a worktree that git has just made, and let its pointer lead there.

        Raises:
            GitError: its pointer leads elsewhere.
        """
        name = self._found_in(place, others=False)
        noted = self.folder / PLACES / place.name
        noted.parent.mkdir(exist_ok=True)
        noted.write_text(name, "utf-8")
        (place / ".git").unlink()
        (place / ".git").write_text(f"{_POINTER}{self.common / 'worktrees' / name}\n", "utf-8")

    def _found_in(self, place: Path, *, others: bool = True) -> str:
        """Return the name of the git folder that a worktree's pointer leads to.

        `others`: it may not be that of another worktree of the run.
        """
        named = Path(pointer_of(place / ".git"))
        if named.parent not in {self.common / "worktrees", self.folder / "worktrees"}:
            raise GitError(f"{place} is not a worktree of sq's: its git folder is {named}. Move it away")
        taken = {path.read_text("utf-8") for path in (self.folder / PLACES).glob("*")} if others else ()
        if named.name in taken:
            raise GitError(f"{place} is not a worktree of sq's: {named} belongs to another one. Move it away")
        return named.name

    def restore_pointer(self, place: Path) -> None:
        """Let the `.git` of a worktree lead to its git folder, if it does not.

        Other content of that name is moved to sq's folder. A place in which a session works is left alone.
        """
        if place == self.root or is_living(place) or not place.is_dir():
            return
        own = self.git_dir(place)
        pointer, text = place / ".git", f"{_POINTER}{own}\n"
        if _is_plain(pointer) and pointer.read_text("utf-8", errors="replace") == text:
            return
        self._replace(pointer, text)

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the variables by which git works in a folder. None are needed outside the run's places.

        Raises:
            GitError: a link leads out of the run's places, or a repository inside cannot be trusted.
        """
        asked = Path(os.path.abspath(folder))  # noqa: PTH100  links are not followed
        place = self.place_of(asked)
        if place is None:
            return {}
        own = self.git_dir(place)
        if asked != place and os.path.lexists(asked / ".git"):
            return self._nested(asked, place)
        return _named(own, place, self.folder)

    def programs(self, path: str) -> str:
        """Return a PATH without the folders in which the run's agents work, and without relative ones."""
        return _programs(path, f"{self.worktrees or self.root}{os.sep}")

    def place_of(self, folder: Path) -> Path | None:
        """Return the checkout or the worktree that a folder is in, or None if it is elsewhere."""
        for worktrees in (self.worktrees, self.worktrees and Path(os.path.realpath(self.worktrees))):
            if self.worktrees and worktrees and folder != worktrees and folder.is_relative_to(worktrees):
                return self.worktrees / folder.relative_to(worktrees).parts[0]
        return self.root if folder.is_relative_to(self.root) else None

    def _nested(self, folder: Path, place: Path) -> dict[str, str]:
        """Return the variables for a repository inside a place: none of its own settings are used."""
        if Path(os.path.realpath(folder)) != Path(os.path.realpath(place)) / folder.relative_to(place):
            raise GitError(f"a link in {folder} leads to another folder: sq runs no git there")
        named = folder / ".git"
        own = named if named.is_dir() and not named.is_symlink() else Path(pointer_of(named))
        real = Path(os.path.realpath(own))
        if not any(real.is_relative_to(one) for one in (place.resolve(), self.common)):
            raise GitError(f"the repository {folder} keeps its git folder outside, at {real}")
        return _named(real, folder, nested_common(self.folder / _NESTED, real, self.folder / "nested-config"))


def pointer_of(pointer: Path) -> str:
    """Return the path of the git folder that a `.git` file names, made absolute.

    Raises:
        GitError: it is no such file.
    """
    try:
        text = pointer.read_text("utf-8", errors="surrogateescape") if _is_plain(pointer) else ""
    except OSError as error:
        raise GitError(f"{pointer} cannot be read: {error.strerror}") from error
    if not text.startswith(_POINTER):
        raise GitError(f"{pointer.parent} is not a worktree of sq's: its .git is not the file that git makes")
    return os.path.abspath(pointer.parent / text.removeprefix(_POINTER).strip())  # noqa: PTH100


def nested_common(below: Path, real: Path, config: Path) -> Path:
    """Return sq's common folder for a repository inside a place, made if it is missing."""
    folder = below / real.as_posix().strip("/").replace("%", "%25").replace("/", "%2F")[-200:]
    folder.mkdir(parents=True, exist_ok=True)
    link_content(real, folder)
    if not (folder / "config").exists():
        (folder / "config").write_bytes(config.read_bytes())
    return folder


# The parts of a git folder that sq has copies of or does not use, and those that it shares.
_OWN = ("config", "config.worktree", "hooks", "info", "description", "commondir", "gitdir")
_SHARED = (
    "HEAD",
    "objects",
    "refs",
    "packed-refs",
    "logs",
    "worktrees",
    "modules",
    "shallow",
    "rr-cache",
    "lfs",
)


def link_content(common: Path, folder: Path) -> None:
    """Link the parts of a git folder that sq shares with the repository: objects, refs, and unknown ones."""
    there = (path.name for path in common.iterdir() if path.is_dir())
    for name in sorted({*_SHARED, *there} - {*_OWN}):
        if not os.path.lexists(folder / name) and not name.startswith("sq-"):
            (folder / name).symlink_to(common / name)


@contextmanager
def trusting(trusted: TrustedGit | None) -> Iterator[None]:
    """Run every git command within the context by these folders, also in tasks that are started in it."""
    token = _now.set(trusted)
    try:
        yield
    finally:
        _now.reset(token)


def trusted_now() -> TrustedGit | None:
    """Return the folders of the run that the current task belongs to, or None outside a run."""
    return _now.get()


@lru_cache  # each git command asks, and folders outside the agents' do not change by them
def _programs(path: str, agents: str) -> str:
    entries = [one for one in path.split(os.pathsep) if one.startswith(os.sep)]
    return os.pathsep.join(
        one for one in entries if not f"{os.path.realpath(one)}{os.sep}".startswith(agents)
    )


def _named(own: Path, place: Path, common: Path) -> dict[str, str]:
    return {
        "GIT_DIR": str(own),
        "GIT_WORK_TREE": str(place),
        "GIT_COMMON_DIR": str(common),
        "GIT_NO_REPLACE_OBJECTS": "1",  # an agent could let one object stand for another
        **_NO_OTHER_SETTINGS,
    }


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
