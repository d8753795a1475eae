"""The version of sq, installed or run from a checkout."""

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

DISTRIBUTION = "sq-orchestrator"


def sq_version() -> str:
    """The version in the checkout's pyproject.toml, else that of the installed distribution."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    if project.is_file():
        declared = tomllib.loads(project.read_text("utf-8")).get("project", {})
        if declared.get("name") == DISTRIBUTION:
            return str(declared["version"])
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"
