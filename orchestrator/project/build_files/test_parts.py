"""The parts of a manifest that decide how tests are run, apart from those that describe the product."""

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

_PRODUCT_KEYS = frozenset({
    "name", "version", "description", "keywords", "homepage", "bugs", "license", "author", "authors",
    "contributors", "repository", "private", "type", "main", "module", "browser", "types", "typings",
    "exports", "bin", "files", "engines", "os", "cpu", "workspaces", "packageManager", "dependencies",
    "devDependencies", "peerDependencies", "optionalDependencies", "bundledDependencies", "overrides",
    "resolutions", "require", "require-dev", "autoload", "autoload-dev", "repositories",
    "minimum-stability", "prefer-stable",
})  # fmt: skip
_HEADER = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?$")
_OF_TESTS = re.compile(
    r"tool\.(?!poetry|uv\b|pdm\.(?!scripts)|setuptools|flit|maturin|scikit-build|hatch\.(?:build|metadata|version))"
    r"|.*pytest11|tool:pytest|pytest|tox\b|testenv|coverage|unittest|envs?\.|lib$|tests?$|bench$|profile\."
)
_SWITCH = re.compile(r"^\s*(?:autotests|test|doctest|harness)\s*=")  # of Cargo


def with_base_parts(path: str, base: str, now: str) -> str:
    """Return a manifest with the parts of the base that decide how tests are run, and else as it is now.

    It is returned as it is if nothing is known of its kind or if one of the two cannot be read.
    """
    match PurePosixPath(path).name:
        case "package.json" | "composer.json":
            return _json(base, now)
        case "pyproject.toml" | "Cargo.toml" | "setup.cfg" | "tox.ini" | "hatch.toml":
            return _sections(base, now)
    return now


def _json(base: str, now: str) -> str:
    try:
        before, after = json.loads(base or "{}"), json.loads(now)
    except (ValueError, RecursionError):
        return now
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return now
    merged = {key: value for key, value in after.items() if key in _PRODUCT_KEYS}
    merged |= {key: value for key, value in before.items() if key not in _PRODUCT_KEYS}
    merged["scripts"] = _scripts(before.get("scripts"), after.get("scripts"))
    return now if merged == {"scripts": {}, **after} else json.dumps(merged, indent=2)


def _scripts(before: Any, after: Any) -> dict[str, Any]:  # noqa: ANN401  whatever stands there
    """Return the scripts of the base, and new ones that none of them runs by itself."""
    kept = dict(before) if isinstance(before, dict) else {}
    added = after if isinstance(after, dict) else {}
    hooks = {f"{when}{name}" for name in kept for when in ("pre", "post", "pre-", "post-")}
    return {**{name: line for name, line in added.items() if name not in hooks}, **kept}


def _sections(base: str, now: str) -> str:
    theirs = {line for _, lines in _split(base) for line in lines}
    product = [
        line
        for name, lines in _split(now)
        for line in lines
        if not _OF_TESTS.match(name) and (not _SWITCH.match(line) or line in theirs)
    ]
    of_tests = [line for name, lines in _split(base) for line in lines if _OF_TESTS.match(name)]
    now_of_tests = [line for name, lines in _split(now) for line in lines if _OF_TESTS.match(name)]
    same = [line for line in of_tests if line.strip()] == [line for line in now_of_tests if line.strip()]
    if same and len(product) + len(now_of_tests) == len(now.splitlines()):
        return now
    return "\n".join([*product, *of_tests, ""])


def _split(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each section and its lines with the header. The first name is ""."""
    name, lines = "", list[str]()
    for line in text.splitlines():
        if header := _HEADER.match(line):
            yield name, lines
            name, lines = header[1].replace('"', "").replace("'", ""), []
        lines.append(line)
    yield name, lines
