"""The gate in files of settings: links, modes, folders, crashes, and files that are not what they should be."""

import json
import os
import stat

import pytest

from orchestrator.gates.stop_gate.install import Removal, Scope, install, settings_files, uninstall
from orchestrator.gates.stop_gate.settings_text import absolute_command
from state.atomic_files import WriteFailedError
from state.errors import UsageError

COMMAND = absolute_command(["/opt/bin/sq"])
STEERED = absolute_command(["/opt/bin/sq"], power_steering=True)


@pytest.fixture
def memory(tmp_path):
    return tmp_path / "state" / "hooks"


@pytest.fixture
def file(tmp_path):
    (tmp_path / "config").mkdir()
    return tmp_path / "config" / "settings.json"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def commands_in(file):
    return [one["hooks"][0]["command"] for one in json.loads(file.read_bytes())["hooks"]["Stop"]]


def test_the_three_files_are_where_claude_code_reads_them(tmp_path, home):
    project = tmp_path / "project"
    assert settings_files({"CLAUDE_CONFIG_DIR": "/there"}, project) == {
        Scope.USER: tmp_path.__class__("/there/settings.json"),
        Scope.PROJECT: project / ".claude" / "settings.json",
        Scope.LOCAL: project / ".claude" / "settings.local.json",
    }
    assert settings_files({}, None) == {Scope.USER: home / ".claude" / "settings.json"}


def test_a_file_that_was_made_is_removed_with_the_folders_that_were_made_for_it(tmp_path, memory):
    file = tmp_path / "new" / ".claude" / "settings.json"
    assert install(file, COMMAND, memory=memory)
    assert commands_in(file) == [COMMAND]
    assert uninstall(file, memory=memory) is Removal.RESTORED
    assert not (tmp_path / "new").exists()


def test_a_folder_that_was_there_or_is_used_by_now_stays(tmp_path, file, memory):
    install(file, COMMAND, memory=memory)
    uninstall(file, memory=memory)
    assert list(file.parent.iterdir()) == []
    other = tmp_path / "new" / ".claude" / "settings.json"
    install(other, COMMAND, memory=memory)
    (other.parent / "agents").mkdir()
    uninstall(other, memory=memory)
    assert [one.name for one in other.parent.iterdir()] == ["agents"]


def test_a_file_that_was_made_and_then_edited_goes_only_if_nothing_else_is_in_it(file, memory):
    for left in ({}, {"model": "opus"}):
        install(file, COMMAND, memory=memory)
        file.write_text(json.dumps({**json.loads(file.read_bytes()), **left}))
        assert uninstall(file, memory=memory) is Removal.TAKEN_OUT
        assert file.exists() == bool(left)
    assert json.loads(file.read_bytes()) == {"model": "opus"}


def test_with_another_flag_the_gate_is_replaced_and_the_first_bytes_are_still_remembered(file, memory):
    file.write_bytes(b'{ "a":1 }')
    assert install(file, COMMAND, memory=memory)
    assert install(file, STEERED, memory=memory)
    assert commands_in(file) == [STEERED]
    assert uninstall(file, memory=memory) is Removal.RESTORED
    assert file.read_bytes() == b'{ "a":1 }'


def test_an_edit_between_two_installations_is_not_undone(file, memory):
    file.write_bytes(b'{"a": 1}')
    install(file, COMMAND, memory=memory)
    file.write_bytes(file.read_bytes().replace(b'"a": 1', b'"a": 2'))
    install(file, STEERED, memory=memory)
    assert uninstall(file, memory=memory) is Removal.TAKEN_OUT
    assert file.read_bytes() == b'{"a": 2}'


def test_what_was_remembered_of_a_file_is_not_used_for_a_later_one(file, memory):
    install(file, COMMAND, memory=memory)
    file.write_bytes(b'{"mine": true}')
    assert uninstall(file, memory=memory) is Removal.NOT_THERE
    assert file.read_bytes() == b'{"mine": true}'
    install(file, COMMAND, memory=memory)
    file.unlink()
    install(file, COMMAND, memory=memory)
    assert uninstall(file, memory=memory) is Removal.RESTORED
    assert not file.exists()


def test_without_what_was_remembered_ours_is_taken_out_all_the_same(file, memory):
    file.write_bytes(b'{\n  "a": 1\n}\n')
    install(file, COMMAND, memory=memory)
    for spoilt in (
        b"{",
        b'{"original": 1, "made": [], "written": ""}',
        b'{"original": "?", "made": [], "written": ""}',
    ):
        [record] = memory.glob("*.json")
        record.write_bytes(spoilt)
        assert uninstall(file, memory=memory) is Removal.TAKEN_OUT
        assert file.read_bytes() == b'{\n  "a": 1\n}\n'
        install(file, COMMAND, memory=memory)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_the_file_keeps_its_mode_and_a_new_one_has_the_usual_one(file, memory, mode):
    file.write_text("{}")
    file.chmod(mode)
    install(file, COMMAND, memory=memory)
    assert mode_of(file) == mode
    uninstall(file, memory=memory)
    assert mode_of(file) == mode
    file.unlink()
    old = os.umask(0o777 & ~mode)
    try:
        install(file, COMMAND, memory=memory)
    finally:
        os.umask(old)
    assert mode_of(file) == mode


def test_what_is_remembered_is_private_since_settings_hold_secrets(file, memory):
    file.write_text('{"env": {"TOKEN": "secret"}}')
    file.chmod(0o644)
    install(file, COMMAND, memory=memory)
    assert {mode_of(one) for one in memory.iterdir()} == {0o600}
    assert mode_of(memory) == 0o700
    uninstall(file, memory=memory)
    assert list(memory.glob("*.json")) == []


def test_a_link_is_followed_and_stays_one(tmp_path, file, memory):
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    file.symlink_to("../dotfiles/claude.json")
    for content in (None, b"{}"):
        if content:
            (dotfiles / "claude.json").write_bytes(content)
        install(file, COMMAND, memory=memory)
        assert file.is_symlink()
        assert commands_in(dotfiles / "claude.json") == [COMMAND]
        assert uninstall(dotfiles / "claude.json", memory=memory) is Removal.RESTORED
        assert (dotfiles / "claude.json").exists() == bool(content)
    assert file.is_symlink()


def test_a_file_that_is_written_leaves_nothing_beside_it(file, memory):
    file.write_text("{}")
    install(file, COMMAND, memory=memory)
    install(file, STEERED, memory=memory)
    assert [one.name for one in file.parent.iterdir()] == ["settings.json"]


def test_what_is_no_file_of_settings_is_refused_and_not_touched(tmp_path, file, memory):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "large").write_bytes(b" " * (9 << 20))
    (tmp_path / "latin").write_bytes('{"é": 1}'.encode("latin-1"))
    for name in ("folder", "pipe", "loop", "large", "latin"):
        for act in (
            lambda path: install(path, COMMAND, memory=memory),
            lambda path: uninstall(path, memory=memory),
        ):
            with pytest.raises(UsageError, match=name):
                act(tmp_path / name)
    assert (tmp_path / "folder").is_dir()
    assert (tmp_path / "loop").is_symlink()


def test_a_place_that_cannot_be_written_is_told_and_the_old_settings_stand(tmp_path, file, memory):
    file.write_text("{}")
    (tmp_path / "blocked").write_text("no folder")
    with pytest.raises(WriteFailedError, match="blocked"):
        install(file, COMMAND, memory=tmp_path / "blocked" / "hooks")
    with pytest.raises((WriteFailedError, UsageError), match="blocked"):
        install(tmp_path / "blocked" / "settings.json", COMMAND, memory=memory)
    assert file.read_text() == "{}"


def test_a_command_that_would_not_be_known_again_is_not_written(file, memory):
    with pytest.raises(UsageError, match="plain name"):
        install(file, absolute_command(["/a\nb/sq"]), memory=memory)
    assert not file.exists()


def test_cut_off_before_the_settings_were_written_nothing_has_to_be_undone(file, memory):
    file.write_bytes(b'{"a": 1}')
    install(file, COMMAND, memory=memory)
    file.write_bytes(b'{"a": 1}')  # as if only what was to be remembered had been stored
    assert uninstall(file, memory=memory) is Removal.NOT_THERE
    assert file.read_bytes() == b'{"a": 1}'
