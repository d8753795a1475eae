"""Which files run later, when a spec names one, and which links lead out of a tree."""

import pytest

from agents.session.permissions import later_terms, protected_path
from orchestrator.run.evidence.doubts import files_that_run_later, leads_out, names


@pytest.mark.parametrize(
    "path",
    [
        ".mcp.json",
        "sub/.MCP.json",
        ".envrc",
        ".husky/pre-commit",
        "tools/Pre-Commit",
        ".VSCode/tasks.json",
        "packages/a/.vscode/settings.json",
        ".claude/agents/helper.md",
        ".gitmodules",
        "sub/SQ.toml",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        "src/sitecustomize.py",
        "lib/x.pth",
        "home/.bashrc",
        ".npmrc",
        ".devcontainer/devcontainer.json",
        ".idea/runConfigurations/all.xml",
        "AGENTS.md",
        ".forgejo/workflows/x.yml",
        ".opencode/plugin/x.js",
        "sub/.dir-locals-2.el",
        "readline.py",
        "GNUmakefile",
        "docker-compose.override.yml",
        "shell.nix",
    ],
)
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


@pytest.mark.parametrize(
    ("spec", "path", "named"),
    [
        ("Add `.envrc` with the variables.", "sub/.envrc", True),
        ("Add a workflow in .github/workflows/ci.yml.", ".github/workflows/ci.yml", True),
        ("Run the tests in GitHub Actions.", ".github/workflows/test.yml", True),
        ("Run the tests in CI.", ".github/workflows/test.yml", True),
        ("Configure .vscode for the project", ".vscode/tasks.json", True),
        ("Add a git hook that lints.", ".husky/pre-commit", True),
        ("Leave .envrc as it is.", ".envrc", False),
        ("Do not touch CI.", ".github/workflows/test.yml", False),
        ("Create notes.txt with a line of text.", ".mcp.json", False),
        ("Decide on the special price.", ".github/workflows/test.yml", False),
        ("Add x.envrc.", ".envrc", False),
    ],
)
def test_the_spec_names_a_file_by_its_path_its_name_its_folder_or_a_term(spec, path, named):
    assert names(spec, path, later_terms(path)) is named


@pytest.mark.parametrize(
    ("links", "path", "out"),
    [
        ({"a": "/etc/passwd"}, "a", True),
        ({"a": "../x"}, "a", True),
        ({"d/a": "../x"}, "d/a", False),
        ({"d/a": "../../x"}, "d/a", True),
        ({"a": ".git/config"}, "a", True),
        ({"a": "d/../.GIT/hooks"}, "a", True),
        ({"s/d": ".", "e": "s/d/../../x"}, "e", True),
        ({"d": "s/t", "e": "d/../x"}, "e", False),
        ({"a": "b", "b": "a"}, "a", False),
        ({"a": "b", "b": "/x"}, "a", True),
        ({}, "a", False),
    ],
)
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
