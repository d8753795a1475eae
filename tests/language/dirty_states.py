"""What users may have uncommitted, what agents may do to it, and how to see whether it is as it was."""

import os
import subprocess
from pathlib import Path

from language.tables import table

FILES = {  # what the first commit has
    "edited.txt": b"one\ntwo\nthree\nfour\nfive\n",
    "staged.txt": b"a\nb\nc\n",
    "twice.txt": b"a\nb\nc\n",
    "deleted.txt": b"gone soon\n",
    "removed.txt": b"gone soon, and staged\n",
    "renamed.txt": b"".join(b"line %d\n" % number for number in range(20)),
    "moved.txt": b"".join(b"row %d\n" % number for number in range(20)),
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
    "image.bin": bytes(range(256)),
    "run.sh": b"true\n",
    "folder/inside.txt": b"x\ny\n",
    "clean.txt": b"clean\n",
}
STATES = table(__file__, "states")
TARGETS = [
    "edited.txt", "staged.txt", "twice.txt", "deleted.txt", "removed.txt", "renamed.txt", "new-name.txt", "moved.txt",
    "new-place.txt", "crlf.txt", "image.bin", "run.sh", "un tracked ä.txt", "deep/er/file", "empty", "link", "dangling",
    "folder/inside.txt", "folder", "deep", ".env", "out/a.o", "out", "intended.txt", "clean.txt", "sub/tracked.txt",
    "sub/new.txt", "inner/file", "$'odd\\tname\\n\"x'", "$'not-utf8-\\xff'",
]  # fmt: skip
ON_A_PATH = table(__file__, "on_a_path")
ON_ALL = [
    "git stash -q -u", "git stash -q", "git add -A", "git reset -q --hard", "git checkout -q -- .", "git clean -qfdx",
    "git rm -q -r --cached .", "rm -f .git/index", "git commit -q -am agent", "git checkout -q -b agents",
    "git checkout -q --detach", "git -C sub checkout -q -- . ; rm -f sub/new.txt", "git branch -f agents2 HEAD",
    "git mv clean.txt cleaner.txt", "touch .git/index.lock",
]  # fmt: skip
USER = {
    "GIT_AUTHOR_NAME": "Owner", "GIT_AUTHOR_EMAIL": "o@localhost",
    "GIT_COMMITTER_NAME": "Owner", "GIT_COMMITTER_EMAIL": "o@localhost",
}  # fmt: skip


def bash(folder, command, **more):
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **USER, **more},
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def template(folder: Path) -> Path:
    """A repository with everything that users may have uncommitted, and a submodule."""
    project, module = folder / "project", folder / "module"
    for where, files in ((module, {"tracked.txt": b"x\ny\n"}), (project, FILES)):
        where.mkdir()
        bash(where, "git init -q -b main")
        for name, content in files.items():
            (where / name).parent.mkdir(exist_ok=True)
            (where / name).write_bytes(content)
    (project / ".gitignore").write_text(".env\nout/\n")
    (project / ".gitattributes").write_text("crlf.txt text eol=crlf\n")
    assert bash(module, "git add -A && git commit -qm one")[0] == 0
    made = bash(
        project,
        f"git -c protocol.file.allow=always submodule add -q {module} sub && git add -A && git commit -qm one",
    )
    assert made[0] == 0, made
    return project


def repositories(project: Path) -> list[Path]:
    return [one for one in (project, project / "sub", project / "inner") if (one / ".git").exists()]


def users_paths(project: Path) -> list[Path]:
    """Every path that is edited, staged, untracked, renamed, deleted or ignored, also what git is not to look at."""
    found = []
    for one in repositories(project):
        listed = bash(one, "git status --porcelain -z --no-renames -uall --ignored=matching")[1]
        ignored = bash(one, "git ls-files -o -i --exclude-standard -z")[1]
        names = [entry[3:] for entry in listed.split(b"\0")] + ignored.split(b"\0")
        found += [one / os.fsdecode(name) for name in names if name and not name.endswith(b"/")]
    hidden = bash(project, "git ls-files -v")[1].decode(errors="replace").splitlines()
    return [*found, *(project / line[2:] for line in hidden if line[0].islower())]


def seen(project: Path, paths: list[Path]) -> dict[str, object]:
    """What is at these paths to the byte, and for each repository index, what is staged, and HEAD."""
    found: dict[str, object] = {}
    for one in repositories(project):
        for words in ("ls-files --stage -v -z", "diff --cached", "rev-parse HEAD", "symbolic-ref HEAD"):
            found[f"{one.name} {words}"] = bash(one, f"git {words}")[1]
    for path in paths:
        is_file = path.is_file() and not path.is_symlink()
        found[str(path)] = (
            path.readlink() if path.is_symlink() else path.read_bytes() if is_file else path.is_dir()
        )
    return found


def quoted(path: str) -> str:
    """A target as a word for bash."""
    return path if path.startswith("$") else f"'{path}'"
