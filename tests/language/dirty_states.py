"""What users may have uncommitted, what agents may do to it, and how to see whether it is as it was."""

import os
import subprocess
from pathlib import Path

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
STATES = {
    "edited": "printf 'one\\nTWO of mine\\nthree\\nfour\\nfive\\nsix of mine' > edited.txt",
    "shorter": "printf 'one\\nfour\\nfive\\n' > edited.txt",
    "staged": "printf 'a\\nmine\\nc\\n' > staged.txt; git add staged.txt",
    "twice": "printf 'a\\nstaged\\nc\\n' > twice.txt; git add twice.txt; printf 'a\\nstaged\\nc\\nlater\\n' > twice.txt",
    "deleted": "rm deleted.txt",
    "removed": "git rm -q removed.txt",
    "renamed": "git mv renamed.txt new-name.txt; echo more >> new-name.txt",
    "moved": "mv moved.txt new-place.txt",
    "crlf": "printf 'one\\r\\nmine\\r\\nthree\\r\\nfour\\n' > crlf.txt",
    "binary": "printf 'a\\0b' > image.bin",
    "mode": "chmod +x run.sh; echo mine >> run.sh",
    "untracked": "echo mine > 'un tracked ä.txt'; mkdir -p deep/er; printf 'no end' > deep/er/file; : > empty",
    "odd name": "printf mine > $'odd\\tname\\n\"x'; printf mine > $'not-utf8-\\xff'",
    "link": "ln -s edited.txt link; ln -s nowhere dangling",
    "inside": "echo mine >> folder/inside.txt",
    "ignored": "echo KEY=1 > .env; mkdir -p out; echo built > out/a.o",
    "intended": "echo mine > intended.txt; git add -N intended.txt",
    "hidden edit": "echo mine >> clean.txt; git update-index --assume-unchanged clean.txt",
    "submodule": "echo mine >> sub/tracked.txt; echo mine > sub/new.txt; git -C sub add new.txt",
    "repository": "git init -q inner; echo mine > inner/file; git -C inner add file",
}
TARGETS = [
    "edited.txt", "staged.txt", "twice.txt", "deleted.txt", "removed.txt", "renamed.txt", "new-name.txt", "moved.txt",
    "new-place.txt", "crlf.txt", "image.bin", "run.sh", "un tracked ä.txt", "deep/er/file", "empty", "link", "dangling",
    "folder/inside.txt", "folder", "deep", ".env", "out/a.o", "out", "intended.txt", "clean.txt", "sub/tracked.txt",
    "sub/new.txt", "inner/file", "$'odd\\tname\\n\"x'", "$'not-utf8-\\xff'",
]  # fmt: skip
ON_A_PATH = [
    "rm -rf {0}",
    "rm -rf {0}; mkdir -p {0}; echo agent > {0}/agent",
    "mkdir -p $(dirname {0}) && rm -rf {0} && printf 'agent\\n' > {0}",
    "mkdir -p $(dirname {0}) && rm -rf {0} && printf 'agent' > {0}",
    "[ -f {0} ] && sed -i 's/.*/agent/' {0}",
    "[ -f {0} ] && sed -i 's/mine/agents/' {0}",
    "[ -f {0} ] && sed -i 's/$/\\r/' {0}",
    "[ -e {0} ] && mv {0} taken-away",
    "rm -rf {0}; ln -s clean.txt {0}",
    "[ -d $(dirname {0}) ] && git checkout -q -- {0}",
    "git add -f {0}",
    "git rm -q -rf --cached {0}",
    "git rm -q -rf {0}",
    "git mv -f {0} elsewhere",
]
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
