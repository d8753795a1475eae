"""Steps that follow from a lock file alone, and those of JavaScript packages, which may have none."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from orchestrator.project.detection.javascript import MANIFEST, manager_of
from orchestrator.project.files import Shown
from orchestrator.project.readiness.steps import SetUpStep, at, below, key_of

_QUIET = "--no-audit --no-fund --prefer-offline"
_JAVASCRIPT = {
    "npm": ("package-lock.json", f"npm ci {_QUIET}"),
    "pnpm": ("pnpm-lock.yaml", "pnpm install --frozen-lockfile --prefer-offline"),
    "yarn": ("yarn.lock", "yarn install --frozen-lockfile --prefer-offline"),
    "bun": ("bun.lock", "bun install --frozen-lockfile"),
}
_UNLOCKED = {
    "npm": f"npm install --no-package-lock {_QUIET}",
    "pnpm": "pnpm install --no-lockfile --prefer-offline",
    "yarn": "yarn install --no-lockfile --prefer-offline",
    "bun": "bun install --no-save",
}
_SETTINGS = (".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pnpm-workspace.yaml", "bunfig.toml")
_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lock:
    """The step for a lock file. `unless` is a file whose presence shows that nothing is missing."""

    files: tuple[str, ...]
    command: str
    program: str
    ecosystem: str
    portable: tuple[str, ...] = ()
    unless: str = ""


_LOCKS = {
    "Gemfile.lock": _Lock(
        files=("Gemfile", ".ruby-version"),
        command="bundle check || bundle install",
        program="bundle",
        ecosystem="ruby",
    ),
    "composer.lock": _Lock(
        files=("composer.json",),
        command="composer install --no-interaction --no-progress",
        program="composer",
        ecosystem="php",
        portable=("vendor",),
    ),
    "go.sum": _Lock(
        files=("go.mod", "go.work", "go.work.sum"),
        command="go mod download",
        program="go",
        ecosystem="go",
        unless="vendor/modules.txt",
    ),
    "Cargo.lock": _Lock(
        files=("Cargo.toml", "rust-toolchain.toml"),
        command="cargo fetch --locked",
        program="cargo",
        ecosystem="rust",
    ),
    "mix.lock": _Lock(
        files=("mix.exs",), command="mix deps.get", program="mix", ecosystem="elixir", portable=("deps",)
    ),
    "packages.lock.json": _Lock(
        files=("global.json", "nuget.config"),
        command="dotnet restore --locked-mode",
        program="dotnet",
        ecosystem="dotnet",
    ),
}


def locked_steps(shown: Shown, part: str) -> Iterator[SetUpStep]:
    """Yield the steps for one folder (`part`, "" is the root) of the worktree."""
    here = shown.part(part) if part else shown
    for name, lock in _LOCKS.items():
        if here.has(name) and not (lock.unless and (here.folder / lock.unless).exists()):
            yield SetUpStep(
                command=at(part, f"{{ {lock.command}; }}" if part and "||" in lock.command else lock.command),
                ecosystem=lock.ecosystem,
                program=lock.program,
                why=below(part, (name,))[0],
                portable=below(part, lock.portable),
                key=key_of(here, (name, *lock.files), lock.command),
            )
    yield from _dart(here, part)
    yield from _javascript(here, part)


def _dart(here: Shown, part: str) -> Iterator[SetUpStep]:
    if here.has("pubspec.lock"):
        flutter = re.search(r"^\s+sdk:\s*flutter\b", here.text("pubspec.yaml"), re.MULTILINE)
        program = "flutter" if flutter else "dart"
        yield SetUpStep(
            command=at(part, f"{program} pub get"),
            ecosystem="dart",
            program=program,
            why=below(part, ("pubspec.lock",))[0],
            key=key_of(here, ("pubspec.lock", "pubspec.yaml")),
        )


def _javascript(here: Shown, part: str) -> Iterator[SetUpStep]:
    manifests = [MANIFEST, *here.ending(f"/{MANIFEST}")]
    if not here.has(MANIFEST) or not any(map(_depends(here), manifests)):
        return
    manager = manager_of(here)
    lock, command = _JAVASCRIPT[manager]
    if manager == "npm" and not here.has(lock):
        lock = "npm-shrinkwrap.json"
    if manager == "bun" and not here.has(lock):
        lock = "bun.lockb"
    if not here.has(lock):
        command = _UNLOCKED[manager]
    elif manager == "yarn" and (here.has(".yarnrc.yml") or "__metadata:" in here.text(lock)):
        command = "yarn install --immutable"  # as in yarn since its second version
    yield SetUpStep(
        command=at(part, command),
        ecosystem="node",
        program=manager,
        why=below(part, (lock if here.has(lock) else MANIFEST,))[0],
        portable=below(part, ("node_modules",)),
        key=key_of(here, (lock, *manifests, *_SETTINGS), command),
    )


def _depends(shown: Shown) -> Callable[[str], bool]:
    """Return a function that says whether a manifest names required packages."""

    def depends(name: str) -> bool:
        try:
            manifest = json.loads(shown.text(name))
        except (ValueError, RecursionError):
            return False
        return isinstance(manifest, dict) and any(manifest.get(kind) for kind in _DEPENDENCIES)

    return depends
