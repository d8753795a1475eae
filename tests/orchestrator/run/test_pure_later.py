"""Which files run later, when a spec names one, and which links lead out of a tree."""

import pytest
from language.tables import rows, table

from agents.session.permissions import later_terms, protected_path
from orchestrator.run.evidence.doubts import files_that_run_later, leads_out, names


@pytest.mark.parametrize("path", table(__file__, "paths"))
def test_a_file_that_programs_start_by_its_name_is_known_in_any_folder_and_case(path):
    assert later_terms(path) is not None


@pytest.mark.parametrize(
    "path", ["src/app.py", "docs/hooks.md", "notes.txt", "envrc.py", "mcp/json.py", "ci.py"]
)
def test_an_ordinary_file_is_none(path):
    assert later_terms(path) is None


@pytest.mark.parametrize("path", ["sq.toml", "SQ.toml", ".Git/hooks/x", ".SQ/runs", ".claude/Settings.json"])
def test_a_protected_path_is_protected_in_any_case(path):
    assert protected_path(path)
    assert protected_path("Docs/a.md", ["docs/**"])


@pytest.mark.parametrize(*rows(__file__, "named"))
def test_the_spec_names_a_file_by_its_path_its_name_its_folder_or_a_term(spec, path, named):
    assert names(spec, path, later_terms(path)) is named


@pytest.mark.parametrize(*rows(__file__, "linked"))
def test_a_link_leads_out_through_whichever_links(links, path, out):
    assert leads_out(path, links) is out


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["data/x/HEAD", "data/x/config", "data/x/objects/info/a", "data/x/refs/heads/b"], ("data/x/HEAD",)),
        (["data/x/HEAD", "data/x/commondir"], ("data/x/HEAD",)),
        (["data/x/HEAD", "data/x/config"], ()),
        (["objects/a.py", "refs/b.py", "data/head.py"], ()),
    ],
)
def test_a_repository_whose_parts_are_files_of_the_tree_runs_later(files, found):
    assert files_that_run_later("Add data.", files, {}, {}) == found


def test_of_very_many_files_the_rest_is_counted():
    found = files_that_run_later("Write notes.", [f"part{n}/.envrc" for n in range(1_003)], {}, {})
    assert (len(found), found[-1]) == (1_001, "3 more")


def test_very_many_files_are_looked_at_once_each():
    files = [f"wide/{number}/HEAD" for number in range(20_000)]
    bare = ["deep/HEAD", "deep/objects/x", "deep/refs/x"]
    assert files_that_run_later("Write notes.", [*files, *bare], {}, {}) == ("deep/HEAD",)
