"""`sq demo`: a rehearsed run on a small repository of its own."""

import shutil
import subprocess
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.views.screen import say


@click.command("demo", short_help="Show a rehearsed run on a small repository. The model is a script.")
@click.option(
    "--keep-in",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Make the repository in this new or empty folder (default: a temporary one).",
)
@options.as_json
@options.plain
def command(keep_in: Path | None, as_json: bool, plain: bool) -> int:
    """Watch a real Claude Code process build a small spec while the model is a script.

    It asks a question and gets an answer, a review sends its work back, and the next one passes. It needs no
    key and no network.
    """
    folder = _folder(keep_in)
    if not as_json:  # before the imports, which take seconds the first time
        say(f"The demo makes a small repository in {folder}")

    from orchestrator.cli.runs.compose import run_new
    from orchestrator.cli.runs.reported import FilesAtEnd
    from orchestrator.cli.runs.request import RunEnvironment, RunRequest

    look = options.look_of(as_json=as_json, plain=plain)
    with as_file(files("orchestrator.cli") / "rehearsal") as material:
        make_repository(material, folder)
        request = RunRequest(
            spec=folder / "quality-test.md", folder=folder, rehearse=material / "quality-test.yaml"
        )
        given = RunEnvironment(look=look, end_report=FilesAtEnd(), transport=options.transport())
        outcome = run_new(request, given)
    if not as_json:
        say(f"look at it: git -C {folder} log --stat")
    return outcome.exit_code


def make_repository(material: Path, folder: Path) -> None:
    """Make a small repository with one commit, and put the spec into it."""
    shutil.copytree(material / "repository", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__*"))
    shutil.copyfile(material / "quality-test.md", folder / "quality-test.md")
    identity = [
        "-c",
        "user.name=sq demo",
        "-c",
        "user.email=demo@localhost",
        "-c",
        "core.hooksPath=/dev/null",
    ]
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["commit", "--quiet", "--no-gpg-sign", "-m", "A greeting, and a spec"],
    ):
        subprocess.run(
            ["git", "-C", str(folder), *identity, *arguments], check=True, stdin=subprocess.DEVNULL
        )


def _folder(given: Path | None) -> Path:
    if given is None:
        return Path(tempfile.mkdtemp(prefix="sq-demo-")).resolve()
    if given.exists() and any(given.iterdir()):
        raise click.UsageError(f"--keep-in {given}: the folder is not empty. Name a new one")
    given.mkdir(parents=True, exist_ok=True)
    return given.resolve()
