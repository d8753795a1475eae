"""The API key is read from its file or variable, and is then in no environment."""

import os
import sys
from pathlib import Path

import pytest
from language.programs import ran

from agents.api_key import ApiKey, read_key, take_key
from state.errors import UsageError

ROOT = Path(__file__).parents[2]


def test_a_key_a_token_or_both_are_sent_as_claude_code_sends_them():
    assert read_key({}) is None
    assert read_key({"ANTHROPIC_API_KEY": " ", "ANTHROPIC_AUTH_TOKEN": ""}) is None
    assert read_key({"ANTHROPIC_API_KEY": "k"}).headers == {"x-api-key": "k"}
    assert read_key({"ANTHROPIC_AUTH_TOKEN": "t"}).headers == {"authorization": "Bearer t"}
    both = read_key({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t"})
    assert both.headers == {"x-api-key": "k", "authorization": "Bearer t"}
    assert both.exposed


def test_a_file_counts_before_a_variable_which_is_still_exposed(tmp_path):
    file = tmp_path / "key"
    file.write_text("  from-the-file\n")
    alone = read_key({"ANTHROPIC_API_KEY_FILE": str(file)})
    assert (alone.key, alone.exposed) == ("from-the-file", False)
    beside = read_key({"ANTHROPIC_API_KEY_FILE": str(file), "ANTHROPIC_API_KEY": "k"})
    assert (beside.key, beside.exposed) == ("from-the-file", True)


def test_a_file_that_cannot_be_read_or_is_empty_is_an_error_that_says_what_to_do(tmp_path):
    with pytest.raises(
        UsageError, match=r"ANTHROPIC_API_KEY_FILE is .*nothing.*No such file.*Correct the path"
    ):
        read_key({"ANTHROPIC_API_KEY_FILE": str(tmp_path / "nothing")})
    with pytest.raises(UsageError, match=r"cannot be read: Is a directory"):
        read_key({"ANTHROPIC_API_KEY_FILE": str(tmp_path)})
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(UsageError, match=r"which is empty. Write the key into it"):
        read_key({"ANTHROPIC_API_KEY_FILE": str(tmp_path / "empty")})


@pytest.mark.parametrize("key", ["sk-\n-two-lines", "sk-é", "sk-\x00"])
def test_a_key_with_characters_that_no_key_has_is_refused_without_being_shown(key):
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY: the key has characters") as caught:
        read_key({"ANTHROPIC_API_KEY": key})
    assert "sk-" not in str(caught.value)


def test_taking_the_key_leaves_nothing_of_it_in_the_environment():
    environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_API_KEY_FILE": "f", "A": "b"}
    taken = take_key(environ)
    assert environ == {"A": "b"}
    assert set(taken) == {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY_FILE"}
    assert take_key(environ) == {}


def test_a_key_shows_nothing_of_itself():
    value = "very-secret"
    assert value not in repr(ApiKey(key=value, token=value))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's switch is Linux's")
def test_a_child_of_sq_gets_no_key_and_sq_cannot_be_read_by_its_user():
    code = (
        "import os, ctypes, subprocess\n"
        "from agents.api_key import take_key\n"
        "take_key(os.environ)\n"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))\n"  # PR_GET_DUMPABLE
        "print(subprocess.run(['env'], capture_output=True, text=True).stdout.count('the-canary'))\n"
    )
    done = ran(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "ANTHROPIC_API_KEY": "the-canary"},
        check=True,
    )
    assert done.stdout.split() == ["0", "0"]
