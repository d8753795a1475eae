"""Attacks by an agent on the git that sq runs: each makes a plain git command run a program."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A worktree of a run, its repository, and a mark that only a program of the agent's makes."""

    project: Path
    worktree: Path
    mark: Path
    shell: Callable[..., str]

    @property
    def common(self) -> Path:
        """The git folder of the repository."""
        return self.project / ".git"

    @property
    def own(self) -> Path:
        """The git folder of the worktree."""
        return self.common / "worktrees" / self.worktree.name

    @property
    def program(self) -> str:
        """A program of the agent's, which leaves its mark and passes its input on."""
        path = self.worktree / "evil.sh"
        path.write_text(f'#!/bin/sh\ntouch "{self.mark}"\ncat 2>/dev/null\n')
        path.chmod(0o755)
        return f'"{path}"'

    def config(self, name: str, value: str, *where: str) -> None:
        """Set a setting, of the repository unless `where` says otherwise."""
        self.shell(self.project, "git", "config", *(where or ("--local",)), name, value)

    def attributes(self, text: str = "* filter=evil\n") -> None:
        """Write attributes into the tree, and a file for them."""
        (self.worktree / ".gitattributes").write_text(text)
        (self.worktree / "new.txt").write_text("new\n")


def _filter(ground: Ground) -> None:
    ground.config("filter.evil.clean", ground.program)
    ground.attributes()


def _process(ground: Ground) -> None:
    ground.config("filter.evil.process", ground.program)
    ground.attributes()


def _included(ground: Ground) -> None:
    (ground.worktree / "more").write_text(
        f'[filter "evil"]\n\tclean = {ground.program.replace(chr(34), "")!r}\n'.replace("'", "")
    )
    ground.config("include.path", str(ground.worktree / "more"))
    ground.attributes()


def _of_the_worktree(ground: Ground) -> None:
    ground.config("extensions.worktreeConfig", "true")
    ground.config("filter.evil.clean", ground.program, "--file", str(ground.own / "config.worktree"))
    ground.attributes()


def _info_attributes(ground: Ground) -> None:
    ground.config("filter.evil.clean", ground.program)
    (ground.common / "info").mkdir(exist_ok=True)
    (ground.common / "info" / "attributes").write_text("* filter=evil\n")
    (ground.worktree / "new.txt").write_text("new\n")


def _attributes_file(ground: Ground) -> None:
    ground.config("filter.evil.clean", ground.program)
    (ground.worktree / "theirs").write_text("* filter=evil\n")
    ground.config("core.attributesFile", str(ground.worktree / "theirs"))


def _hostile_repository(ground: Ground, folder: Path) -> None:
    ground.shell(folder.parent, "git", "init", "--quiet", "--initial-branch=main", str(folder))
    ground.config("filter.evil.clean", ground.program, "--file", str(folder / ".git" / "config"))
    for name, value in (("user.name", "a"), ("user.email", "a@localhost")):
        ground.config(name, value, "--file", str(folder / ".git" / "config"))
    (folder / "f").write_text("1\n")


def _own_folder(ground: Ground) -> None:
    (ground.worktree / ".git").unlink()
    _hostile_repository(ground, ground.worktree)
    ground.attributes()


def _other_pointer(ground: Ground) -> None:
    other = ground.project.parent / "other"
    _hostile_repository(ground, other)
    (ground.worktree / ".git").write_text(f"gitdir: {other / '.git'}\n")
    ground.attributes()


def _link_for_pointer(ground: Ground) -> None:
    other = ground.project.parent / "other"
    _hostile_repository(ground, other)
    (ground.worktree / ".git").unlink()
    (ground.worktree / ".git").symlink_to(other / ".git")
    ground.attributes()


def _commondir(ground: Ground) -> None:
    other = ground.project.parent / "other"
    _hostile_repository(ground, other)
    (ground.own / "commondir").write_text(f"{other / '.git'}\n")
    ground.attributes()


def _submodule(ground: Ground) -> None:
    """A repository inside, whose commit is staged already: git asks for its state."""
    inner = ground.worktree / "sub"
    _hostile_repository(ground, inner)
    ground.shell(inner, "git", "-c", "filter.evil.clean=cat", "add", "f")
    ground.shell(inner, "git", "commit", "--quiet", "-m", "one")
    ground.shell(ground.worktree, "git", "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    (inner / ".gitattributes").write_text("* filter=evil\n")
    (inner / "f").write_text("2\n")


ATTACKS = {
    "a filter": _filter,
    "a filter that is a process": _process,
    "included settings": _included,
    "settings of the worktree": _of_the_worktree,
    "attributes in the git folder": _info_attributes,
    "a file of attributes": _attributes_file,
    "a repository in place of the pointer": _own_folder,
    "another pointer": _other_pointer,
    "a link in place of the pointer": _link_for_pointer,
    "another common folder": _commondir,
    "a submodule": _submodule,
}

# Settings by which other commands of sq's run a program. Each is tried with every command.
SETTINGS = (
    "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy",
    "core.alternateRefsCommand", "credential.helper", "gpg.program", "diff.external", "diff.evil.command",
    "diff.evil.textconv", "merge.evil.driver", "filter.evil.clean", "filter.evil.smudge",
    "filter.evil.process", "uploadpack.packObjectsHook", "interactive.diffFilter", "pager.diff",
)  # fmt: skip
HOOKS = (
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "pre-commit",
    "post-merge",
    "pre-merge-commit",
    "commit-msg",
)
