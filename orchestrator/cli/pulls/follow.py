"""`sq follow`: work on what the readers and the checks of a pull request ask for, and answer each of them once."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from orchestrator.cli import options
from orchestrator.cli.runs import flags

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def _seconds(_ctx: click.Context, _parameter: click.Parameter, given: str | None) -> float | None:
    """Convert `90m`, `8h` or `2d` to seconds."""
    if given is None:
        return None
    number, unit = given[:-1], given[-1:]
    if unit not in _UNITS or not number.isdigit():
        raise click.BadParameter(f"{given!r} is no duration. Write 90m, 8h or 2d")
    return float(number) * _UNITS[unit]


@click.command("follow", short_help="Work on what the review of a pull request asks for.")
@click.argument("pull_request", metavar="PR")
@click.option("--watch", is_flag=True, help="Go on until the pull request is merged or closed.")
@click.option(
    "--for", "for_s", metavar="DURATION", callback=_seconds, help="Watch for this long at most: 90m, 8h, 2d."
)
@flags.settings(budget="USD", questions="", sandbox="")
@click.option(
    "--rehearse",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Play this scenario instead of asking a model. Claude Code itself is real.",
)
@options.state_dir
@options.plain
@options.verbose
@options.quiet
def command(
    pull_request: str,
    watch: bool,
    for_s: float | None,
    rehearse: Path | None,
    state_dir: Path | None,
    plain: bool,
    verbose: bool,
    quiet: bool,
    **asked: Any,  # noqa: ANN401  the values of the options, by their names
) -> int:
    """Work on what the readers and the checks of the pull request PR ask for (its number or address).

    Reviews and comments by people who may write to the repository, and failing checks, become the points of a
    new run on its branch. Each is answered once, with the commit or the reason. sq stops after three rounds, as
    soon as a person has pushed, or when nothing is asked for. Comments of others are shown here and do nothing.
    """
    from orchestrator.cli.pulls.rounds import Following
    from orchestrator.cli.pulls.rounds import follow as following

    if for_s is not None and not watch:
        raise click.UsageError("--for says how long to watch: add --watch")
    given: Mapping[str, Any] = {name: value for name, value in asked.items() if value is not None}
    told: Following = Following(
        named=pull_request,
        checkout=Path.cwd(),
        state=options.state_folder_of(state_dir),
        look=options.look_of(as_json=False, plain=plain, verbose=verbose, quiet=quiet),
        flags=flags.flags_of(given),
        rehearse=rehearse.absolute() if rehearse else None,
        transport=options.transport(),
        watch_s=(for_s or float("inf")) if watch else 0.0,
        environ=os.environ,
    )
    return following(told).exit_code
