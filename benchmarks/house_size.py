"""The size of the checkout: files, lines, words, and what makes a reader open more files than needed."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import grimp

ROOT = Path(__file__).parents[1]
JOURNEYS = "tests/orchestrator/run/test_run_journeys.py"


def sizes(product: Sequence[Path], graph: grimp.ImportGraph) -> dict[str, int]:
    """Count tracked Python files and their lines, outside `tests` and inside, and the other figures.

    Args:
        product: the Python files of the product.
        graph: its imports.
    """
    listed = subprocess.run(["git", "ls-files", "-z", "*.py"], cwd=ROOT, capture_output=True, check=True)
    tracked = [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    tests = [file for file in tracked if file.is_relative_to(ROOT / "tests")]
    others = [file for file in tracked if not file.is_relative_to(ROOT / "tests")]
    return {
        "files": len(others),
        "lines": _lines(others),
        "test_files": len(tests),
        "test_lines": _lines(tests),
        "single_importer_files": len(single_importer_files(product, graph)),
        "names_of_several_classes": len(names_of_several_classes(product)),
        "architecture_words": len((ROOT / "ARCHITECTURE.md").read_text("utf-8").split()),
    }


def journeys() -> dict[str, int]:
    """Return how many files a claim and a question enter, as the journeys' tests count them in real runs.

    Raises:
        subprocess.CalledProcessError: the tests could not be run.
    """
    with TemporaryDirectory() as folder:
        written = Path(folder) / "journeys.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", f"--junitxml={written}", JOURNEYS]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        if done.returncode > 1:  # 1: a test failed, which has counted before
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout)
        found = ET.parse(written).iter("property")  # noqa: S314  our own file
        return {one.attrib["name"]: int(one.attrib["value"]) for one in found}


def single_importer_files(product: Sequence[Path], graph: grimp.ImportGraph) -> list[Path]:
    """The files that exactly one other file of the product imports, one of the same folder."""
    by_module = {_module_of(file): file for file in product}
    found = []
    for module, file in by_module.items():
        importers = [
            by_module[one] for one in graph.find_modules_that_directly_import(module) if one in by_module
        ]
        if len(importers) == 1 and importers[0].parent == file.parent:
            found.append(file)
    return found


def names_of_several_classes(product: Sequence[Path]) -> list[str]:
    """The public names of classes that two or more files of the product define."""
    files = Counter(
        name
        for file in product
        for name in {
            node.name
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        }
    )
    return sorted(name for name, count in files.items() if count > 1)


def _module_of(file: Path) -> str:
    dotted = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    return re.sub(r"\.__init__$", "", dotted)


def _lines(files: Sequence[Path]) -> int:
    return sum(file.read_bytes().count(b"\n") for file in files)
