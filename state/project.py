"""The project that a folder belongs to: a session may have begun in any folder below its top."""

from pathlib import Path

_OWN = ("sq.toml", ".claude/power-steering.yaml")  # where a project says what its sessions are asked


def top_of(folder: Path) -> Path:
    """The top of the checkout around a folder, without asking git.

    Outside of a checkout: the nearest folder above with settings of sq; else the folder itself.
    """
    here = folder.absolute()
    above = (here, *here.parents)
    checkout = next((each for each in above if (each / ".git").exists()), None)
    return checkout or next((each for each in above if any((each / own).is_file() for own in _OWN)), here)
