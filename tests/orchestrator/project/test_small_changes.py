"""Small changes of code, and a command without its linters."""

import json
from pathlib import Path
from typing import Any

import pytest
from language.tables import table

from orchestrator.project.functions.functions import has_errors
from orchestrator.project.functions.small_changes import small_changes
from orchestrator.project.runners.selection import only_these, without_linters
from orchestrator.project.runners.suite import suite_of


@pytest.mark.parametrize("row", table(__file__, "changes"), ids=lambda row: f"{row['file']} {row['first']}")
def test_a_condition_is_negated_a_number_shifted_or_a_statement_dropped(row: dict[str, Any]) -> None:
    content = row["text"].encode()
    found = small_changes(row["file"], content, row["lines"])
    words = [one.words.partition(": ")[2] for one in found]
    assert words[:1] == ([row["first"]] if row["first"] else [])
    assert row.get("also", "") in [*words, ""]
    assert all(one.content != content and not has_errors(row["file"], one.content) for one in found)


@pytest.mark.parametrize(("command", "scripts", "left"), table(__file__, "linters"))
def test_a_command_is_taken_apart_from_its_linters(
    tmp_path: Path, command: str, scripts: dict[str, str], left: str | None
) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    assert plain(without_linters(suite_of(command, tmp_path))) == (left or "")


@pytest.mark.parametrize(("command", "scripts", "file", "left"), table(__file__, "chosen"))
def test_the_files_of_tests_run_apart_from_the_linters_beside_them(
    tmp_path: Path, command: str, scripts: dict[str, str], file: str, left: str
) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": scripts}))
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("import { test } from 'node:test';\n")
    assert plain(only_these(suite_of(command, tmp_path), [file])) == left


def plain(found: str | None) -> str:
    text = (found or "").replace('PATH="$PWD/node_modules/.bin:$PATH" && export PATH && ', "")
    return text.replace('PATH="$PWD/node_modules/.bin:$PATH"; export PATH; ', "")
