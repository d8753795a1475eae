"""What a repository gives to its users: how it is made, loaded and started, and its other builds."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path, PurePosixPath

import msgspec

from orchestrator.project.build_files.step import text_of
from orchestrator.project.files import belongs_to_tests, third_party
from state.decoding import table_beside

_MOST = 2


class ProductRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of product. The head of `products.yaml` describes the fields of its rows."""

    manifests: tuple[str, ...]
    make: str
    shown_by: str = ""
    enter: str = ""


class OtherBuild(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another build of the same sources, in which tests have to pass too."""

    told: str
    files: str
    holds: str = ""
    unless: str = ""
    leaves_out: str = ""
    was: str = ""
    becomes: str = ""
    variables: dict[str, str] = {}
    broken: str = ""


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    kinds: dict[str, ProductRow]
    cannot: str
    others: tuple[OtherBuild, ...]
    programs: dict[str, str]


@cache
def product_table() -> _Table:
    """Return all that is known of products."""
    return msgspec.convert(table_beside(__file__, "products.yaml"), _Table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What is made of a folder `part` of a repository, "" for its root, by the manifest there."""

    kind: str
    part: str
    manifest: str

    def line(self, form: str, **words: object) -> str:
        """Return a line of its row with these words in it."""
        return form.format(**{name: shlex.quote(str(one)) for name, one in words.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """What a product said of itself: its commands with the words that start them, and what does not load."""

    commands: Mapping[str, tuple[str, ...]]
    faults: Mapping[str, str]


def entered(output: str, mark: str) -> Entered:
    """Return what a line that loads a product has said."""
    commands, faults = dict[str, tuple[str, ...]](), dict[str, str]()
    for line in (one for one in output.splitlines() if one.startswith(f"{mark} ")):
        try:
            told = json.loads(line.removeprefix(mark))
        except (ValueError, RecursionError):
            continue
        if "command" in told:
            commands[str(told["command"])] = tuple(map(str, told["start"]))
        else:
            faults[str(told.get("name"))[:300]] = str(told.get("why"))[:300]
    return Entered(commands=commands, faults=faults)


def products_of(folder: Path, changed: Iterable[str]) -> list[Product]:
    """Return what is made of the folders whose manifests are nearest to these files."""
    found: dict[tuple[str, str], Product] = {}
    for path in (one for one in changed if not (third_party(one) or belongs_to_tests(one))):
        parts = [*reversed([*accumulate(PurePosixPath(path).parts[:-1], "{}/{}".format)]), ""]
        for kind, row in product_table().kinds.items():
            places = ((part, name) for part in parts for name in row.manifests)
            shown = ((part, str(PurePosixPath(part, name))) for part, name in places)
            near = next((one for one in shown if _shows(folder / one[1], row)), None)
            if near:
                found[kind, near[0]] = Product(kind=kind, part=near[0], manifest=near[1])
    return [*found.values()][:_MOST]


def _shows(manifest: Path, row: ProductRow) -> bool:
    return manifest.is_file() and re.search(row.shown_by, text_of(manifest), re.MULTILINE) is not None
