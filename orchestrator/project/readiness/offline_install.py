"""How the downloads of a step are made apart from its build, for manifests that an agent has changed.

A tool downloads in a folder that holds the manifests alone, with the network and without the packages'
scripts. Then it builds in the worktree without network. Some tools run the project's code in order to
download, and cannot do that.
"""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path

from orchestrator.project.files import look
from orchestrator.project.readiness.steps import SetUpStep
from state.safe_paths import read_inside

DOWNLOADS = "SQ_DOWNLOADS"  # the variable that names the folder for downloads


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """A row: how one tool downloads and builds apart.

    `download` and `build` are commands, in which `{command}` is that of the step. One that is empty is
    not needed. `manifests` are names, and `empty` patterns of files that only have to exist. `variables`
    hold for both commands, `offline` for the build. `{into}` in them is the folder for downloads, `{uri}` its
    URL. `lasting`: all later commands in the worktree need them too. `why_not`: why the tool cannot download
    apart, or "".
    """

    download: str = ""
    build: str = "{command}"
    manifests: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    offline: Mapping[str, str] = field(default_factory=dict)
    lasting: bool = False
    why_not: str = ""

    def variables_for(self, into: Path, *, building: bool) -> dict[str, str]:
        """Return the variables of the download, or of the build and of later commands."""
        chosen = {**self.variables, **(self.offline if building else {})}
        return {
            DOWNLOADS: str(into),
            **{name: value.format(into=into, uri=into.as_uri()) for name, value in chosen.items()},
        }


_PACKAGES = ("package.json", "pnpm-workspace.yaml")
_PIP = "-m pip download --quiet --disable-pip-version-check --only-binary :all:"
_CODE = "{0} is code, which would run with the network"
_ROWS: dict[str, Apart] = {
    "npm": Apart(
        download="{command} --ignore-scripts",
        manifests=(*_PACKAGES, "package-lock.json", "npm-shrinkwrap.json"),
        variables={"npm_config_cache": "{into}"},
        offline={"npm_config_offline": "true"},
    ),
    "pnpm": Apart(
        download="{command} --ignore-scripts --ignore-pnpmfile",
        manifests=(*_PACKAGES, "pnpm-lock.yaml"),
        variables={"npm_config_store_dir": "{into}"},
        offline={"npm_config_offline": "true"},
    ),
    "yarn": Apart(
        download="{command} --ignore-scripts",
        build="{command} --offline",
        manifests=(*_PACKAGES, "yarn.lock"),
        variables={"YARN_CACHE_FOLDER": "{into}"},
    ),
    "bun": Apart(
        download="{command} --ignore-scripts",
        manifests=(*_PACKAGES, "bun.lock", "bun.lockb"),
        variables={"BUN_INSTALL_CACHE_DIR": "{into}"},
    ),
    "composer": Apart(
        download="{command} --no-scripts --no-plugins",
        manifests=("composer.json", "composer.lock"),
        variables={"COMPOSER_CACHE_DIR": "{into}"},
        offline={"COMPOSER_DISABLE_NETWORK": "1"},
    ),
    "cargo": Apart(
        download="{command}",
        build="",
        manifests=("Cargo.toml", "Cargo.lock"),
        empty=("*.rs",),
        variables={"CARGO_HOME": "{into}"},
        offline={"CARGO_NET_OFFLINE": "true"},
        lasting=True,
    ),
    "go": Apart(
        download="{command}",
        build="",
        manifests=("go.mod", "go.sum", "go.work", "go.work.sum"),
        variables={"GOMODCACHE": "{into}", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw"},
        offline={"GOPROXY": "off", "GOFLAGS": ""},
        lasting=True,
    ),
    "dart": Apart(
        download="{command}",
        build="{command} --offline",
        manifests=("pubspec.yaml", "pubspec.lock"),
        variables={"PUB_CACHE": "{into}"},
        lasting=True,
    ),
    "uv": Apart(
        download="{command} --no-install-project --no-install-workspace --no-build",
        manifests=("pyproject.toml", "uv.lock", ".python-version"),
        variables={"UV_CACHE_DIR": "{into}", "UV_PYTHON_DOWNLOADS": "never"},
        offline={"UV_OFFLINE": "1"},
    ),
    "python3": Apart(
        download=f'python3 -m venv .sq && .sq/bin/python {_PIP} --dest "${DOWNLOADS}" {{wants}}',
        offline={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "{uri}"},
    ),
    "bundle": Apart(why_not=_CODE.format("Gemfile")),
    "mix": Apart(why_not=_CODE.format("mix.exs")),
    "dotnet": Apart(why_not="project files of .NET run targets"),
    "flutter": Apart(why_not="flutter writes into its own installation"),
    "poetry": Apart(why_not="poetry builds packages while it downloads"),
    "pdm": Apart(why_not="pdm builds packages while it downloads"),
    "pipenv": Apart(why_not="pipenv builds packages while it downloads"),
}
_NEWER_YARN = Apart(why_not="yarn runs the program that .yarnrc.yml names")
_UNKNOWN = Apart(why_not="sq does not know how")
_OPEN_ENDED = Apart(why_not="only setup.py, which is code, knows what the project requires")


def apart(step: SetUpStep) -> Apart:
    """Return the row of a step, with its commands."""
    row = _ROWS.get(step.program, _UNKNOWN)
    if step.program == "yarn" and "--immutable" in step.command:
        row = _NEWER_YARN
    if step.program == "python3" and step.wants is None:
        row = _OPEN_ENDED
    elif step.program == "python3" and not step.wants:
        row = replace(row, download="")
    if step.program == "uv" and step.wants:
        build = f' && uv pip install --quiet --no-build --target "${DOWNLOADS}/.build" {{wants}}'
        row = replace(row, download=row.download + build)
    words = {"command": step.command, "wants": shlex.join(step.wants or ())}
    return replace(row, download=row.download.format(**words), build=row.build.format(**words))


def offline_variables() -> dict[str, str]:
    """Return the variables that make all tools work without network, from their caches."""
    return {
        name: value
        for row in _ROWS.values()
        for name, value in row.offline.items()
        if "{" not in value and name != "GOFLAGS"
    }


def copy_manifests(row: Apart, worktree: Path, scratch: Path) -> None:
    """Copy the manifests of a worktree into an empty folder, and make the files that have to exist."""
    for name in look(worktree).files:
        last = name.rpartition("/")[2]
        target = scratch / name
        if last in row.manifests:
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):  # a link that leads out of the worktree
                target.write_bytes(read_inside(worktree, name))
        elif any(fnmatch(last, pattern) for pattern in row.empty):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
