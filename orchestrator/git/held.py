"""Git in a folder of others, without their settings: it reads objects and files, and starts no program.

Git has no switch for filters, and any setting of the repository may name a program: a watcher of files, a
hook, a pager, a way to compare, to fetch what is missing or to give credentials. So git gets a common folder
of sq's own, which links to objects and refs and has only settings that say how they are stored. Settings of
the user and of the machine are not read either. It imports little: the stop hook uses it too.
"""

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

# Settings without a program, which decide how git reads what is there.
_PLAIN = re.compile(
    r"^\s*(repositoryformatversion|ignorecase|symlinks|filemode|precomposeunicode|autocrlf|eol|objectformat"
    r"|refstorage)\s*=\s*(true|false|input|lf|crlf|native|\d|sha1|sha256|files|reftable)\s*$",
    re.IGNORECASE,
)
_SECTION = re.compile(r"^\s*\[\s*(\w+)\s*\]\s*$")
_SECTIONS = ("core", "extensions")
_LINKED = ("refs", "packed-refs", "reftable", "info", "logs", "shallow", "worktrees", "HEAD")
_POINTER = "gitdir:"
_now: ContextVar[Mapping[str, str] | None] = ContextVar("held_git", default=None)


def held_now() -> Mapping[str, str]:
    """Return the variables of the `held_git` that this is in, or none."""
    return _now.get() or {}


@contextmanager
def as_configured() -> Iterator[None]:
    """Let git read all settings within a `held_git`, for calls that start no program by any of them."""
    token = _now.set(None)
    try:
        yield
    finally:
        _now.reset(token)


@contextmanager
def held_git(folder: Path) -> Iterator[Mapping[str, str]]:
    """Have git run nothing in the checkout around a folder. Yields the variables that do it.

    They are empty where there is no checkout.
    """
    place = next((one for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)
    own = _git_folder(place / ".git") if place else None
    if place is None or own is None:
        yield {}
        return
    common = _common(own)
    with tempfile.TemporaryDirectory(prefix="sq-git-") as made:
        for name in _LINKED:
            if os.path.lexists(common / name):
                os.symlink(common / name, Path(made, name))  # noqa: PTH211  Path's loads more
        Path(made, "config").write_text(_plain_settings(common / "config"), "utf-8")
        variables = {
            "GIT_DIR": str(own),
            "GIT_WORK_TREE": str(place),
            "GIT_COMMON_DIR": made,
            "GIT_OBJECT_DIRECTORY": str(common / "objects"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": "0",
            "GIT_CONFIG_PARAMETERS": "",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": "",
            "GIT_PAGER": "cat",
            "GIT_EXTERNAL_DIFF": "",
        }
        token = _now.set(variables)
        try:
            yield variables
        finally:
            _now.reset(token)


def _git_folder(dot_git: Path) -> Path | None:
    if dot_git.is_dir():
        return Path(os.path.realpath(dot_git))
    try:
        text = dot_git.read_text("utf-8", errors="surrogateescape").strip()
    except OSError:
        return None
    if not text.startswith(_POINTER):
        return None
    return Path(os.path.realpath(dot_git.parent / text.removeprefix(_POINTER).strip()))


def _common(own: Path) -> Path:
    try:
        return Path(os.path.realpath(own / (own / "commondir").read_text("utf-8").strip()))
    except (OSError, ValueError):
        return own


def _plain_settings(config: Path) -> str:
    """Return those settings of a repository that name no program."""
    try:
        lines = config.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    found: dict[str, list[str]] = {name: [] for name in _SECTIONS}
    section = ""
    for line in lines:
        if line.lstrip().startswith("["):
            match = _SECTION.match(line)
            section = match[1].lower() if match else ""
        elif section in found and (plain := _PLAIN.match(line)):
            found[section].append(f"\t{plain[1]} = {plain[2]}")
    found["core"].append("\tbare = false")
    return "".join("\n".join((f"[{name}]", *some, "")) for name, some in found.items())
