"""What counts as a secret, and that its value is nowhere in what is written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import table

from state.redaction.redactor import redactor
from state.secrets import secret_names, without_secrets

SECRET_NAMES = table(__file__, "secret_names")

ORDINARY_NAMES = table(__file__, "ordinary_names")


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_variable_that_is_named_like_a_secret_is_one(name):
    assert secret_names({name: "some value", "PATH": "/bin"}) == [name]


@pytest.mark.parametrize("name", ORDINARY_NAMES)
def test_a_variable_whose_name_only_looks_like_it_is_none(name):
    assert secret_names({name: "some value"}) == []


@pytest.mark.parametrize(
    "url",
    [
        "postgres://app:hunter2hunter2@db:5432/app",
        "redis://:hunter2hunter2@cache/0",
        "https://me:hunter2hunter2@git.example.org/x.git",
        "mongodb+srv://app:hunter2@cluster/app",
        "rest:https://me:hunter2@backup.example.org/",
        "jdbc:postgresql://db/app?user=me&password=hunter2",
        "-Xmx1g -Drepo.password=hunter2",
        '{"endpointCredentials": [{"endpoint": "https://f.example.org", "password": "hunter2"}]}',
    ],
)
def test_a_url_with_a_password_is_a_secret_whatever_its_variable_is_called(url):
    assert secret_names({"DATABASE_URL": url}) == ["DATABASE_URL"]


@pytest.mark.parametrize(
    "url",
    [
        *(
            "postgres://db:5432/app",
            "postgres://app@db/app",
            "http://127.0.0.1:8080/a@b",
            "https://x.org/a:b@c",
        ),
        *("-Dpassword=$PASSWORD", "askpassword", "tokens=3", "-Xmx1g -Dtokenizer=fast", "the password: "),
    ],
)
def test_a_url_without_a_password_is_none(url):
    assert secret_names({"DATABASE_URL": url}) == []


def test_commands_get_the_environment_without_its_secrets():
    environ = {"PATH": "/bin", "GITHUB_TOKEN": "ghp_1234567890", "DATABASE_URL": "pg://a:hunter2hunter2@b/c"}
    assert without_secrets(environ) == {"PATH": "/bin"}
    assert len(environ) == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("http.https://github.com/.extraheader", "AUTHORIZATION: basic eDpzZWNyZXQ="),
        ("http.extraheader", "X-Of-Ours: 1234567890"),
        ("url.https://ghp_1234567890@github.com/.insteadof", "https://github.com/"),
        ("credential.helper", "!f() { echo secret; }; f"),
        ("http.proxy", "http://me:hunter2hunter2@proxy:3128"),
    ],
)
def test_settings_of_git_in_variables_go_whole_with_a_credential(key, value):
    given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": key, "GIT_CONFIG_VALUE_0": value}
    assert without_secrets({**given, "PATH": "/bin"}) == {"PATH": "/bin"}


def test_settings_of_git_in_variables_stay_whole_or_go_whole():
    ssh = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "url.ssh://git@github.com/.insteadof",
        "GIT_CONFIG_VALUE_0": "https://github.com/",
    }
    assert without_secrets(ssh) == ssh
    plain = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.abbrev", "GIT_CONFIG_VALUE_0": "9"}
    assert without_secrets(plain) == plain
    header = {
        "GIT_CONFIG_KEY_1": "http.extraheader",
        "GIT_CONFIG_VALUE_1": "AUTHORIZATION: basic eDpzZWNyZXQ=",
    }
    assert without_secrets({**plain, **header, "GIT_CONFIG_COUNT": "2", "PATH": "/bin"}) == {"PATH": "/bin"}


def test_a_secret_is_replaced_by_the_name_of_its_variable():
    redact = redactor({"GITHUB_TOKEN": "ghp_1234567890", "PATH": "/bin"})
    assert redact("token ghp_1234567890, twice: ghp_1234567890") == (
        "token [redacted: GITHUB_TOKEN], twice: [redacted: GITHUB_TOKEN]"
    )


def test_of_two_secrets_the_longer_one_is_replaced_whole():
    redact = redactor({"A_TOKEN": "12345678", "B_TOKEN": "1234567890"})
    assert redact("1234567890 12345678") == "[redacted: B_TOKEN] [redacted: A_TOKEN]"


def test_a_value_too_short_to_be_a_secret_and_an_ordinary_variable_are_left_alone():
    redact = redactor({"DEBUG_KEY": "on", "EMPTY_TOKEN": "", "EDITOR": "long-enough-name"})
    assert redact("on and on with long-enough-name") == "on and on with long-enough-name"


def test_a_password_that_is_an_ordinary_word_does_not_blank_out_the_word():
    redact = redactor({"POSTGRES_PASSWORD": "postgres", "LONG_PASSWORD": "correcthorsebatterystaple"})
    assert (
        redact("in /srv/postgres, correcthorsebatterystaple") == "in /srv/postgres, [redacted: LONG_PASSWORD]"
    )


awkward = st.text(
    alphabet=st.one_of(st.sampled_from("\"\\\n\t/'{}[] äß🔑秘\x01.*+?$^|()"), st.characters(codec="utf-8")),
    min_size=8,
    max_size=30,
).filter(lambda value: not value.isalpha())


@given(secret=awkward, depth=st.integers(0, 2), plain_ascii=st.booleans())
def test_a_secret_is_found_at_any_depth_of_json_in_json(secret, depth, plain_ascii):
    text = f"<{secret}>"
    for _ in range(depth):
        text = json.dumps({"content": text}, ensure_ascii=plain_ascii)
    told = redactor({"SERVICE_TOKEN": secret})(text)
    for _ in range(depth):
        told = json.loads(told)["content"]
    assert told == "<[redacted: SERVICE_TOKEN]>"
