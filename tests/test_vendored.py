"""Files of other projects: each as the registry has it, with its licence, and no script beside them but our own."""

import hashlib
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = {"orchestrator/views/page/assets/live.js"}
FOLDERS = ("orchestrator/views/page/assets/vendor", "tests/pages/vendor")


def rows(folder):
    return tomllib.loads((ROOT / folder / "VENDOR.toml").read_text("utf-8"))["file"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_vendored_file_has_its_hash_its_origin_and_its_licence(folder):
    listed = {row["file"] for row in rows(folder)}
    licences = {row["licence_file"] for row in rows(folder) if "licence_file" in row}
    assert {file.name for file in (ROOT / folder).iterdir()} == {"VENDOR.toml", *listed, *licences}
    for row in rows(folder):
        data = (ROOT / folder / row["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == row["sha256"]
        assert row["integrity"].startswith("sha512-")
        assert row["version"]
        words = row.get("licence_text") or (ROOT / folder / row["licence_file"]).read_text("utf-8")
        assert "Permission" in words or "Mozilla Public License" in words


def test_there_is_no_other_script_in_the_checkout():
    vendored = {f"{folder}/{row['file']}" for folder in FOLDERS for row in rows(folder)}
    found = {
        str(file.relative_to(ROOT))
        for top in ("orchestrator", "agents", "prompts", "state", "tests/pages")
        for file in (ROOT / top).rglob("*.js")
    }
    assert found == vendored | OURS


def test_our_own_script_evaluates_nothing_and_writes_no_html():
    for name in OURS:
        text = (ROOT / name).read_text("utf-8")
        for word in (
            "eval(",
            "Function(",
            "innerHTML",
            "insertAdjacentHTML",
            "document.write",
            "Storage",
            "http:",
        ):
            assert word not in text


def test_the_vendor_script_compares_the_same_folders():
    text = (ROOT / ".ci" / "vendored.py").read_text("utf-8")
    assert all(folder in text for folder in FOLDERS)
