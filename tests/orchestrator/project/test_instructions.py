"""Instruction files of a commit: their order and imports, links, the bound of their texts."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from orchestrator.project.agent_files import Texts, imports, instructions_at
from state.journal.events import InstructionsRead

Shell = Callable[..., str]
Read = Callable[[dict[str, str]], tuple[Texts, InstructionsRead]]
LINK = "link to "


@pytest.fixture
def read(repository: Path, shell: Shell) -> Read:
    """Commit these files and links, and read the instructions of that commit."""

    def of(files: dict[str, str]) -> tuple[Texts, InstructionsRead]:
        for name, text in files.items():
            path = repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text.startswith(LINK):
                path.symlink_to(text.removeprefix(LINK))
            else:
                path.write_text(text)
        shell(repository, "git", "add", ".")
        shell(repository, "git", "commit", "--quiet", "-m", "Files")
        return anyio.run(instructions_at, repository, "HEAD")

    return of


def test_files_of_outer_folders_come_first_and_what_they_import_behind_them(read: Read) -> None:
    texts, found = read(
        {
            "a/AGENTS.md": "of a",
            "AGENTS.md": "of all",
            "CLAUDE.md": "see @a/style.md and @docs/more.md, `@not/this.md`\n```\n@nor/this.md\n```\n",
            "a/style.md": "@../docs/more.md",
            "docs/more.md": "@../CLAUDE.md",
            "README.md": "no instruction",
        }
    )
    assert found.files == ("CLAUDE.md", "a/style.md", "docs/more.md", "AGENTS.md", "a/AGENTS.md")
    assert found.remarks == ()
    assert texts[2] == (("docs/more.md",), "@../CLAUDE.md")


def test_only_a_claude_md_and_what_it_imports_imports_others(read: Read) -> None:
    assert read({"AGENTS.md": "@docs/a.md", "docs/a.md": "text"})[1].files == ("AGENTS.md",)


def test_a_link_and_an_equal_text_are_shown_once_under_all_their_names(read: Read) -> None:
    texts, found = read({"CLAUDE.md": "same", "AGENTS.md": f"{LINK}CLAUDE.md", "a/AGENTS.md": "same\n"})
    assert texts == [(("CLAUDE.md", "AGENTS.md", "a/AGENTS.md"), "same")]
    assert found.files == texts[0][0]


@pytest.mark.parametrize("outside", ["/etc/hostname", "~/notes.md", "../../notes.md"])
def test_an_import_or_a_link_that_leads_out_is_named_and_not_followed(read: Read, outside: str) -> None:
    texts, found = read({"CLAUDE.md": f"all @{outside}", "a/CLAUDE.md": f"{LINK}/etc/hostname"})
    assert [text for _, text in texts] == [f"all @{outside}"]
    assert len(found.remarks) == 2
    assert all("leads out of the repository" in one for one in found.remarks)


def test_a_missing_import_is_named_and_a_word_with_an_at_sign_is_none(read: Read) -> None:
    _, found = read({"CLAUDE.md": "ask @someone, or mail a@b.example.md; see @docs/gone.md."})
    assert found.remarks == ("docs/gone.md is not read: the commit has no such file of at most 1 MB",)


def test_imports_of_imports_are_followed_to_a_bound(read: Read) -> None:
    chain = {f"m{n}.md": f"@m{n + 1}.md" for n in range(1, 8)}
    _, found = read({"CLAUDE.md": "@m1.md", **chain})
    assert found.files == ("CLAUDE.md", "m1.md", "m2.md", "m3.md", "m4.md", "m5.md")
    assert found.remarks == ("m6.md is not read: more than 5 imports lead to it",)


def test_texts_fit_a_bound_and_what_does_not_is_said(read: Read) -> None:
    texts, found = read({"CLAUDE.md": "x" * 30_000, "a/AGENTS.md": "y" * 20_000, "b/AGENTS.md": "z" * 9_000})
    assert found.files == ("CLAUDE.md", "b/AGENTS.md")
    assert found.remarks == ("a/AGENTS.md is named only: its text does not fit",)
    assert sum(len(text) for _, text in texts) == 39_000


def test_one_of_the_root_that_is_too_long_is_cut_and_that_is_said(read: Read) -> None:
    texts, found = read({"CLAUDE.md": "x" * 50_000, "AGENTS.md": "y"})
    assert [len(text) for _, text in texts] == [40_000]
    assert found.remarks == (
        "CLAUDE.md is cut: its last 10000 characters are missing",
        "AGENTS.md is named only: its text does not fit",
    )


def test_a_repository_without_such_files_has_none(read: Read) -> None:
    assert read({"claude.txt": "x"}) == ([], InstructionsRead(files=()))


def test_an_import_ends_before_the_mark_behind_it() -> None:
    assert [*imports("a/CLAUDE.md", "(see @b.md) and @c/d.md!")] == ["a/b.md", "a/c/d.md"]
    assert [*imports("CLAUDE.md", "@~/x.md @/abs.md")] == ["~/x.md", "/abs.md"]
