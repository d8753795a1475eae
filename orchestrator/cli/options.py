"""Options that several commands share, and the completion of their values."""

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from state.roles import Role

if TYPE_CHECKING:
    from agents.session.port import ChooseAgent
    from orchestrator.views.run.look import Look

_VIEWERS = ("watch", "dash")
state_dir = click.option(
    "--state-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Where runs keep their state (default: .sq in the repository).",
)
as_json = click.option(
    "--json", "as_json", is_flag=True, help="Events as JSON Lines on stdout, nothing else there."
)
json_object = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else there."
)
plain = click.option("--plain", is_flag=True, help="Plain lines, also on a terminal.")


def _by_role(_ctx: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Convert repeated `ROLE=NAME[:EFFORT]` to a mapping."""
    pairs = [one.partition("=") for one in given]
    if wrong := next((f"{role}{sign}{name}" for role, sign, name in pairs if not (role and name)), None):
        raise click.BadParameter(f"{wrong!r} is not ROLE=NAME[:EFFORT], for instance worker=opus:high")
    return {role: name for role, _, name in pairs}


models = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="ROLE=NAME[:EFFORT]",
    callback=_by_role,
    help=f"The model of a role ({', '.join(Role)}), and its effort on a reply (low, "
    "medium, high, xhigh, max). Repeatable.",
)
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def duration(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> float | None:
    """Convert `90m`, `8h` or `2d` to seconds."""
    if given is None:
        return None
    number, unit = given[:-1], given[-1:]
    if unit not in _UNITS or not number.isdigit():
        raise click.BadParameter(f"{given!r} is no duration. Write 90m, 8h or 2d")
    return float(number) * _UNITS[unit]


rehearse = click.option(
    "--rehearse",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Play this scenario instead of asking a model. Claude Code itself is real.",
)
spec = click.option(
    "--spec",
    type=click.Path(allow_dash=True),
    required=True,
    help="Markdown file with the spec of the work, an issue (gh:OWNER/REPO#N), or - for standard input.",
)


def _named(ctx: click.Context, _parameter: click.Parameter, given: str | None) -> None:
    """Set GH_HOST while the command runs: a host of the user's is named in one way."""
    from orchestrator.hosting.remote import NAMED_HOST

    if given is None:
        return
    before = os.environ.get(NAMED_HOST)
    os.environ[NAMED_HOST] = given.strip().lower()

    @ctx.call_on_close
    def put_back() -> None:
        os.environ.pop(NAMED_HOST, None)
        os.environ.update({} if before is None else {NAMED_HOST: before})


host = click.option(
    "--host",
    metavar="NAME",
    callback=_named,
    expose_value=False,
    help="A hosting service beside github.com that may get your token for it (as GH_HOST).",
)
verbose = click.option("-v", "--verbose", is_flag=True, help="Show every event, not only the story.")
quiet = click.option("-q", "--quiet", is_flag=True, help="Show the end only.")


def look_of(*, as_json: bool, plain: bool, verbose: bool = False, quiet: bool = False) -> "Look":
    """How to show a run.

    Raises:
        UsageError: options that exclude each other.
    """
    from orchestrator.views.run.look import chosen_look

    if verbose and quiet:
        raise click.UsageError("--verbose and --quiet exclude each other. Leave one out")
    return chosen_look(as_json=as_json, plain=plain, verbose=verbose, quiet=quiet, environ=os.environ)


def state_folder_of(given: Path | None) -> "Path":
    """The state folder: the given one, else `.sq` in the repository around this folder.

    It imports nothing, since `sq status` has to be quick.

    Raises:
        UsageError: that folder is a part of the repository.
    """
    if given is not None:
        return given.absolute()
    return own_state(repository_here() or Path.cwd())


def own_state(root: Path) -> Path:
    """The state folder of a repository, unless git tracks one there: somebody else made its runs.

    Their sandbox, commands and notices would hold for `sq resume`, and a link would lead elsewhere.

    Raises:
        UsageError: git tracks it.
    """
    folder = root / ".sq"
    if os.path.lexists(folder):
        import subprocess

        from state.errors import UsageError

        asked = ["-c", "core.fsmonitor=false", "ls-files", "-z", "--", ".sq"]
        told = subprocess.run(["git", "-C", str(root), *asked], capture_output=True, check=False)
        if told.stdout:
            raise UsageError(
                f"{folder} is a part of the repository, so its runs are none of yours. Take it out of git "
                "(git rm -r --cached .sq) and away, or name another folder with --state-dir"
            )
    return folder


def run_folder_of(run: str | None, state_dir: Path | None) -> Path:
    """The folder of the run with this id, or a beginning or end of it. None: the newest run.

    Raises:
        UsageError: there is none, or several fit.
    """
    from state.paths import StateFolder

    return StateFolder(state_folder_of(state_dir)).find(run)


def again(state_dir: Path | None) -> str:
    """The option for a further command about the same state folder, with a space before it, or ""."""
    return f" --state-dir {shlex.quote(str(state_dir))}" if state_dir else ""


def following(run_folder: Path) -> tuple[str, ...]:
    """The commands that follow a run from another terminal in this folder."""
    state = run_folder.parents[1]
    where = again(None if state == state_folder_of(None) else state)
    return tuple(f"sq {viewer} {run_folder.name.rpartition('-')[2]}{where}" for viewer in _VIEWERS)


def repository_here() -> Path | None:
    """The top of the repository around this folder, found without git. None if there is none."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)


def complete_efforts(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The effort presets with this beginning, only the shipped ones if the configuration has problems."""
    from state.errors import UsageError
    from state.settings.config import load_config
    from state.settings.presets import efforts

    try:
        known = load_config(repository_here(), os.environ).efforts
    except UsageError:
        known = efforts()
    return [name for name in known if name.startswith(incomplete)]


def complete_runs(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The run ids with this beginning, newest first. `--state-dir` counts if it comes before."""
    from state.paths import StateFolder

    state = StateFolder(state_folder_of(ctx.params.get("state_dir")))
    return [run for run in reversed(state.run_ids()) if run.startswith(incomplete)]


def choose_agent() -> "ChooseAgent | None":
    """Return how the agents of roles are chosen, as `main` was told."""
    found: ChooseAgent | None = click.get_current_context().obj
    return found
