"""Which files run later, when a spec names one, and which links lead out of a tree."""

import re

import pytest
from language.tables import rows, table

from agents.concurrency import UnreadError
from agents.session.permissions import protected_path
from orchestrator.checks.of_files.runs_later import files_that_run_later, leads_out, names
from orchestrator.git.trees import known_as
from orchestrator.project.runs_later import Later, later_files, runs_later

ROWS = later_files()
LEAST_ROWS, LEAST_TOOLS = 120, 25
LINKED = table(__file__, "through links")


@pytest.mark.parametrize("path", table(__file__, "paths"))
def test_a_file_that_programs_start_by_its_name_is_known_in_any_folder_and_case(path):
    assert runs_later(path)


@pytest.mark.parametrize("path", table(__file__, "ordinary"))
def test_an_ordinary_file_is_none(path):
    assert runs_later(path) is None


def test_the_list_has_a_source_for_each_row_and_each_pattern_once():
    patterns = [path for row in ROWS for path in row.file.paths]
    assert len(ROWS) >= LEAST_ROWS
    assert len({row.file.tool for row in ROWS}) >= LEAST_TOOLS
    assert sorted(patterns) == sorted(set(patterns))
    assert [path for path in patterns if path != path.lower()] == []
    for row in ROWS:
        assert row.file.does in {"runs", "configures", "rules"}
        assert re.match(r"https?://[\w.-]+/?|docs/|RubyGems guides", row.file.source), row
        assert row.terms


def test_every_pattern_of_a_row_matches_in_any_case_depth_and_form():
    for row in ROWS:
        _is_found(row)


def _is_found(row: Later):
    wild = [path for path in row.file.paths if "*" in path]
    assert len(row.file.examples) >= len(wild), "each pattern with * has an example"
    plain = [path for path in row.file.paths if "*" not in path]
    for path in (*plain, *row.file.examples):
        name = path.rstrip("/")
        for evading in (
            name,
            name.upper(),
            f"a/B/c d/{name.title()}",
            name.replace("s", "\u017f").replace("k", "\u212a"),  # a long s, the sign of kelvin
            f"x/{name[:1]}\u200c{name[1:]}",
            f"{name}.",
            f"{name} ",
            *([f"a/{name}/b/c.txt"] if path.endswith("/") else []),
        ):
            assert runs_later(evading), evading
    for path in wild:
        pattern = path.rstrip("/").replace("*", ".*")
        assert any(re.fullmatch(pattern, one, re.IGNORECASE) for one in row.file.examples), path


@pytest.mark.parametrize("path", ["sq.toml", "SQ.toml", ".Git/hooks/x", ".SQ/runs", ".claude/Settings.json"])
def test_a_protected_path_is_protected_in_any_case(path):
    assert protected_path(path)
    assert protected_path("Docs/a.md", ["docs/**"])


@pytest.mark.parametrize(*rows(__file__, "named"))
def test_the_spec_names_a_file_by_its_path_its_name_its_folder_or_a_term(spec, path, named):
    assert names(spec, path, runs_later(path).terms) is named


def test_a_file_of_a_line_by_which_it_stays_is_not_named():
    lines = "Add a script.\nLeave .envrc as it is.\n"
    assert names(lines, ".envrc", ())
    assert not names(lines, ".envrc", (), kept=["Leave .envrc as it is."])
    assert files_that_run_later(lines, [".envrc"], {}, {}, kept=["Leave .envrc as it is."]) == (".envrc",)


@pytest.mark.parametrize(*rows(__file__, "linked"))
def test_a_link_leads_out_through_whichever_links(links, path, out):
    assert leads_out(path, links) is out


@pytest.mark.parametrize("case", LINKED)
def test_a_file_is_known_by_its_names_through_links(case):
    row = LINKED[case]
    found = files_that_run_later(
        "Write notes.", row["changed"], row.get("before", {}), row["now"], every=row["every"]
    )
    assert [*found] == row["found"]


def test_a_chain_of_too_many_links_leads_nowhere_and_links_into_one_another_are_named():
    chain = {"a/l0": "notes", **{f"a/l{number}": f"l{number - 1}" for number in range(1, 61)}}
    assert known_as("a/notes", chain)[:3] == ["a/notes", "a/l0", "a/l1"]
    assert known_as("a/l60", chain) == ["a/l60"]
    assert not leads_out("a/l60", chain)
    with pytest.raises(UnreadError, match="links give a/notes more than 2,000 names"):
        known_as("a/notes", {f"a/x{number}": "." for number in range(10)})


def test_lines_that_give_a_file_to_a_program_count_and_others_do_not():
    def found(*lines):
        return files_that_run_later(
            "Write.", [".gitattributes"], {}, {}, added={".gitattributes": set(lines)}
        )

    assert found("*.txt text eol=lf", "# filter") == ()
    assert found("*.txt filter=lfs") == (".gitattributes",)
    assert found("src/** linguist-generated") == (".gitattributes",)


@pytest.mark.parametrize(
    ("files", "every", "found"),
    [
        (
            ["data/x/HEAD", "data/x/config", "data/x/objects/info/a", "data/x/refs/heads/b"],
            [],
            ("data/x/HEAD",),
        ),
        (["data/x/HEAD", "data/x/commondir"], [], ("data/x/HEAD",)),
        (["data/x/HEAD", "data/x/config"], [], ()),
        (["objects/a.py", "refs/b.py", "data/head.py"], [], ()),
        (["data/x/HEAD"], ["data/x/HEAD", "data/x/objects/a", "data/x/refs/a"], ("data/x/HEAD",)),
        (["x/config"], ["x/HEAD", "x/objects/a", "x/refs/a", "x/config"], ("x/HEAD",)),
        (["y.py"], ["x/HEAD", "x/objects/a", "x/refs/a", "y.py"], ()),
    ],
)
def test_a_repository_whose_parts_are_files_of_the_tree_runs_later(files, every, found):
    assert files_that_run_later("Add data.", files, {}, {}, every=every) == found


def test_of_very_many_files_the_rest_is_counted():
    found = files_that_run_later("Write notes.", [f"part{n}/.envrc" for n in range(1_003)], {}, {})
    assert (len(found), found[-1]) == (1_001, "3 more")


def test_very_many_files_are_looked_at_once_each():
    files = [f"wide/{number}/HEAD" for number in range(20_000)]
    bare = ["deep/HEAD", "deep/objects/x", "deep/refs/x"]
    assert files_that_run_later("Write notes.", [*files, *bare], {}, {}) == ("deep/HEAD",)
