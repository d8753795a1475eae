"""What a repository gives to its users: how it is made, loaded and started, and its other builds."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path, PurePosixPath

import msgspec

from orchestrator.project.build_files.step import text_of
from orchestrator.project.files import belongs_to_tests, third_party
from state.decoding import table_beside

_MOST = 2
_NONE = r"(?!)"  # a pattern that nothing has


class ProductRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of product. The head of `products.yaml` describes the fields of its rows."""

    manifests: tuple[str, ...]
    make: str
    shown_by: str = ""
    enter: str = ""
    quiet: bool = False


class OtherBuild(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another build of the same sources, in which tests have to pass too."""

    told: str
    files: str
    holds: str = ""
    unless: str = _NONE
    leaves_out: str = _NONE
    was: str = _NONE
    becomes: str = ""
    variables: dict[str, str] = {}
    broken: str = _NONE

    def is_asked_for(self, texts: Mapping[str, str]) -> bool:
        """Whether changed files may differ in this build, and do not tell the builds apart on purpose."""
        holds = any(re.search(self.holds, f"{path}\n{one}", re.MULTILINE) for path, one in texts.items())
        return holds and not re.search(self.unless, "\n".join(texts.values()))


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

    row: ProductRow
    part: str
    manifest: str

    def lines(self, **words: object) -> list[str]:
        """Return the lines that make and load it, with these words in them."""
        quoted = {name: shlex.quote(str(one)) for name, one in words.items()}
        return [one.format(**quoted) for one in (self.row.make, self.row.enter)]


def entered(output: str, mark: str) -> tuple[dict[str, Sequence[str]], dict[str, str]]:
    """Return what starts each command of a product, and what does not load and why, as it has said."""
    commands, lacking = dict[str, Sequence[str]](), dict[str, str]()
    for line in (one for one in output.splitlines() if one.startswith(f"{mark} ")):
        with suppress(ValueError, RecursionError, KeyError, TypeError):
            told = json.loads(line.removeprefix(mark))
            if "command" in told:
                commands[str(told["command"])] = tuple(map(str, told["start"]))
            else:
                lacking[str(told["name"])[:300]] = str(told["why"])[:300]
    return commands, lacking


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
                found[kind, near[0]] = Product(row=row, part=near[0], manifest=near[1])
    return [*found.values()][:_MOST]


def _shows(manifest: Path, row: ProductRow) -> bool:
    return manifest.is_file() and re.search(row.shown_by, text_of(manifest), re.MULTILINE) is not None
