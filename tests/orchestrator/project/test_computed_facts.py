"""Dependencies and public names, computed from texts of many ecosystems and languages."""

from contextlib import suppress

import pytest
from language.tables import table

from orchestrator.project.build_files.manifests import dependencies_in, dependency_changes
from orchestrator.project.functions.public import name_changes, public_names

MANIFESTS = table(__file__, "manifests")


@pytest.mark.parametrize("path", MANIFESTS)
def test_a_manifest_names_dependencies(path: str) -> None:
    text, wanted = MANIFESTS[path]
    assert sorted(name for _, name, _ in dependencies_in(path, text)) == sorted(wanted.split())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pyproject.toml", "[project\n"),
        ("package.json", '{"dependencies": '),
        ("package.json", "[" * 100_000),
        ("pom.xml", '<!DOCTYPE x [<!ENTITY a "b">]><project/>'),
        ("pom.xml", "<project>"),
        ("setup.py", "setup(install_requires=read())"),
        ("setup.cfg", "no section"),
    ],
)
def test_a_broken_or_hostile_manifest_could_not_be_read(path: str, text: str) -> None:
    assert dependency_changes({}, {path: text}).unread == (path,)


@pytest.mark.parametrize(
    "text", ['{"dependencies": [1], "packages": 3}', "[]", "null", '{"dependencies": {"a": null}}']
)
def test_an_odd_manifest_is_read_as_far_as_it_names_something(text: str) -> None:
    assert dependency_changes({}, {"package.json": text}).unread == ()


def test_dependencies_are_added_removed_changed_or_only_locked() -> None:
    before = {"package.json": '{"dependencies": {"a": "1", "b": "1", "c": "1"}}', "vendor/package.json": "{"}
    after = {
        "package.json": '{"dependencies": {"a": "2"}}',
        "packages/x/package.json": '{"dependencies": {"c": "1", "d": "1"}}',
        "package-lock.json": '{"packages": {"node_modules/e": {}, "node_modules/b": {}}}',
    }
    found = dependency_changes(before, after)
    assert (found.added, found.removed, found.changed, found.locked) == (("d",), ("b",), ("a",), ("e",))


SOURCES = table(__file__, "sources")


@pytest.mark.parametrize("file", SOURCES)
def test_the_public_names_of_a_source_are_those_that_others_can_use(file: str) -> None:
    text, wanted = SOURCES[file]
    found = [f"{name}{signature}" for name, signature in public_names(file, text.encode())]
    assert " ".join(found) == wanted


def test_public_names_are_added_removed_or_have_other_parameters() -> None:
    before = {"a.py": b"def f(a): pass\ndef g(): pass\ndef h(x): pass\n", "b.go": b"package b\nfunc F() {}\n"}
    after = {
        "a.py": b"def f(a, b): pass\ndef h(x: int) -> None: pass\n",
        "c.go": b"package b\nfunc F() {}\n",
        "d.py": b"def (\n",
    }
    found = name_changes(before, after)
    assert found.changed == ("a.py: f(a) is now (a, b)",)
    assert (found.removed, found.added, found.unread) == (("a.py: g",), (), ("d.py",))


ODD = [
    "-" * 50_000 + "1",
    "(" * 50_000,
    "[" * 50_000 + "]" * 50_000,
    "<a>" * 50_000,
    "\n" * 200_000,
    ".package(" * 30_000,
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize(
    "path",
    ["setup.py", "package.json", "pyproject.toml", "pom.xml", "requirements.txt", "Gemfile", "build.gradle", "mix.exs", "Package.swift"],
)  # fmt: skip
def test_any_manifest_has_dependencies_or_cannot_be_read(path, text):
    with suppress(ValueError):
        assert list(dependencies_in(path, f"x = {text}" if path == "setup.py" else text)) == []
