"""The documents are true: made from the code where they can be, and every link leads somewhere."""

import os
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from language.programs import ran

from benchmarks import house
from state.settings.presets import efforts

ROOT = Path(__file__).parents[1]
MOST_WORDS = 1400
DOCUMENTS = house.documents()
TURNS = {"semicolons": 60, "what_clauses": 40, "nobody": 5, "told": 5}  # the most in 10,000 words
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


def links_of(document: Path) -> set[str]:
    found = _LINK.findall(_FENCE.sub("", document.read_text("utf-8")))
    return {link or attribute for link, attribute in found}


def anchors_of(document: Path) -> set[str]:
    """The anchors of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", document.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def problem_of(document: Path, link: str, root: Path = ROOT) -> str | None:
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = document.parent / path if path else document
    if not target.resolve().is_relative_to(root) or not target.exists():
        return f"{link}: there is no such file"
    if anchor and anchor not in anchors_of(target):
        return f"{link}: {target.name} has no such heading"
    return None


@pytest.mark.parametrize("columns", ["40", "240"])
def test_the_made_documents_are_as_the_code_has_it_whatever_the_terminal_is(columns):
    done = ran(
        [sys.executable, str(ROOT / ".ci" / "make-docs"), "--check"],
        env={**os.environ, "COLUMNS": columns, "TERMINAL_WIDTH": columns},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(document.relative_to(ROOT)))
def test_every_link_and_anchor_of_a_document_exists(document):
    problems = [problem_of(document, link) for link in sorted(links_of(document))]
    assert [problem for problem in problems if problem] == []


def test_links_are_found_and_missing_ones_are_named(tmp_path):
    document = tmp_path / "a.md"
    document.write_text('# A `b` (c)\n[x](#a-b-c) [y](#d) <img src="z.svg">\n```\n[in code](none.md)\n```\n')
    problems = [problem_of(document, link, tmp_path) for link in sorted(links_of(document))]
    assert problems == [None, "#d: a.md has no such heading", "z.svg: there is no such file"]


def test_the_readme_is_short():
    words = re.findall(r"\S+", _FENCE.sub(" ", (ROOT / "README.md").read_text("utf-8")))
    assert len(words) <= MOST_WORDS


def test_the_readme_has_the_budgets_and_the_worker_of_each_preset():
    readme = (ROOT / "README.md").read_text("utf-8")
    for name, one in efforts().items():
        row = re.search(rf"^\| `{name}`[^|]*\| (.*?) \| (.*?) \| (.*?) \| (\w+)", readme, re.MULTILINE)
        assert row, name
        budgets = (f"${one.budget_task_usd:g}", f"${one.budget_run_usd:g}")
        assert row.groups() == (*budgets, one.models["worker"], one.review_depth), name


def test_the_pictures_of_the_loop_differ_in_colours_only():
    light, dark = (
        (ROOT / "docs" / f"loop-{name}.svg").read_text("utf-8").split("</style>")[1]
        for name in ("light", "dark")
    )
    assert light == dark


@pytest.mark.parametrize("name", ["loop-light", "loop-dark", "demo"])
def test_a_picture_is_one_file_without_scripts_and_escapes(name):
    text = (ROOT / "docs" / f"{name}.svg").read_text("utf-8")
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}  # noqa: S314  our own
    assert tags <= {"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "circle", "text"}
    assert "\x1b" not in text
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]


def test_documents_are_in_plain_words():
    counts = house.turns([_FENCE.sub(" ", document.read_text("utf-8")) for document in DOCUMENTS])
    assert {name: count for name, count in counts.items() if name in TURNS and count > TURNS[name]} == {}


def test_the_readme_lists_no_command_twice() -> None:
    commands = re.findall(r"^(sq [^#\n]*?) *(?:#.*)?$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(commands) > 5
    assert [one for one in commands if commands.count(one) > 1] == []
