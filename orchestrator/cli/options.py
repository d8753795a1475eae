"""Options that several commands share."""

from pathlib import Path

import click

state_dir = click.option(
    "--state-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Where runs keep their state (default: .sq in the repository).",
)
as_json = click.option(
    "--json", "as_json", is_flag=True, help="Events as JSON Lines on stdout, nothing else there."
)
plain = click.option("--plain", is_flag=True, help="Plain lines, also on a terminal.")


def state_folder_of(given: Path | None) -> "Path":
    """The state folder that is meant: the given one, else `.sq` in the repository around this folder.

    Without git, and without importing anything: `sq status` has to be quick.
    """
    if given is not None:
        return given.absolute()
    here = Path.cwd()
    top = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    return top / ".sq"
