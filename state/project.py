"""The project that a folder belongs to. A session may have begun in any folder below its top."""

from pathlib import Path

_OWN = ("sq.toml", ".claude/power-steering.yaml")  # where a project configures the checks of its sessions


def top_of(folder: Path) -> Path:
    """Return the top of the checkout around a folder, without running git.

    Outside of a checkout, return the nearest folder above with settings of sq, or else the folder itself.
    """
    here = folder.absolute()
    above = (here, *here.parents)
    checkout = next((each for each in above if (each / ".git").exists()), None)
    return checkout or next((each for each in above if any((each / own).is_file() for own in _OWN)), here)
