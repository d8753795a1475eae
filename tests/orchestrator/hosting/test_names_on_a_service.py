"""What addresses of remotes and names of issues mean, and texts that act nowhere."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language.tables import rows, table

from orchestrator.git.messages import commit_message, merge_title
from orchestrator.hosting.handing_over import push
from orchestrator.hosting.remote import (
    VARIABLES,
    AccessToken,
    Hosted,
    Remote,
    api_address,
    find_remote,
    hosted_at,
    numbered,
    take_token,
)
from orchestrator.hosting.service import ServiceReply, refusal
from state.errors import SqError, UsageError
from state.hidden import inert

SHOP = Hosted("github.com", "acme", "shop")


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("https://github.com/acme/shop.git", SHOP),
        ("https://github.com/acme/shop", SHOP),
        ("https://user:word@github.com/acme/shop/", SHOP),
        ("git@github.com:acme/shop.git", SHOP),
        ("ssh://git@github.com/acme/shop.git", SHOP),
        ("ssh://git@github.com:22/acme/shop.git", SHOP),
        ("git@git.firm.example:tools/a.b-c.git", Hosted("git.firm.example", "tools", "a.b-c")),
        ("/srv/git/shop.git", None),
        ("../shop", None),
        ("file:///srv/acme/shop", None),
        ("https://github.com/acme", None),
        ("https://github.com/acme/shop/extra/parts", None),
        ("", None),
    ],
)
def test_the_address_of_a_remote_names_a_repository_or_none(url, named):
    assert hosted_at(url) == named


@pytest.mark.parametrize(*rows(__file__, "names"))
def test_an_issue_is_named_in_the_ways_that_people_type(text, name):
    assert str(numbered(text, SHOP)) == name


@pytest.mark.parametrize(
    "text", ["", "gh:", "gh:acme", "gh:acme/shop", "twelve", "https://github.com/acme/shop"]
)
def test_what_names_no_issue_is_refused_with_the_form(text):
    with pytest.raises(UsageError, match=r"gh:OWNER/REPO#12"):
        numbered(text, SHOP)
    with pytest.raises(UsageError):
        numbered("12", None)


def test_a_token_goes_to_encrypted_addresses_alone():
    assert api_address("github.com", {}) == "https://api.github.com"
    assert api_address("git.firm.example", {}) == "https://git.firm.example/api/v3"
    assert api_address("x", {"GITHUB_API_URL": "http://127.0.0.1:8/"}) == "http://127.0.0.1:8"
    for wrong in ("http://api.github.com", "ftp://x", "nonsense"):
        with pytest.raises(UsageError, match="only to an https address"):
            api_address("x", {"GITHUB_API_URL": wrong})


def test_the_token_is_taken_out_of_the_environment_or_asked_of_gh(tmp_path):
    environ = {"GITHUB_TOKEN": "one-token-of-many", "GH_TOKEN": "the-first-token", "PATH": str(tmp_path)}
    token = take_token("github.com", environ)
    assert (token.value, token.source, environ) == ("the-first-token", "GH_TOKEN", {"PATH": str(tmp_path)})
    assert "the-first-token" not in repr(token)
    gh = tmp_path / "gh"
    gh.write_text('#!/bin/sh\n[ "$*" = "auth token --hostname github.com" ] && echo token-of-gh\n')
    gh.chmod(0o755)
    assert take_token("github.com", environ).value == "token-of-gh"
    gh.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(UsageError, match=r"gh auth login --hostname github\.com"):
        take_token("github.com", environ)


TOKENS = {name: f"{name}-value" for name in VARIABLES}


def _sent(url: str, environ: dict[str, str]) -> tuple[str, str]:
    """Return the source of the token that goes to the service of a remote, and the address that it goes to."""
    found = {"PATH": "", **TOKENS, **environ}
    named = hosted_at(url)
    if named is None:
        raise UsageError("no repository")
    return take_token(named.host, found).source, api_address(named.host, found)


@pytest.mark.parametrize("row", table(__file__, "token_hosts"), ids=repr)
def test_no_token_goes_to_a_host_that_it_does_not_belong_to(row):
    with pytest.raises(UsageError) as refusal:
        _sent(row["url"], row.get("environ", {}))
    assert "-value" not in str(refusal.value)


@pytest.mark.parametrize("row", table(__file__, "own_hosts"), ids=repr)
def test_a_token_goes_to_the_host_that_it_belongs_to(row):
    assert _sent(row["url"], row["environ"]) == (row["source"], row["address"])


def test_all_tokens_leave_the_environment_also_where_none_is_sent():
    environ = {"PATH": "", **TOKENS}
    with pytest.raises(UsageError, match=r"--host evil\.example"):
        take_token("evil.example", environ)
    assert environ == {"PATH": ""}


@pytest.mark.parametrize(*rows(__file__, "elsewhere"))
async def test_a_push_that_git_would_send_elsewhere_is_refused(repository, shell, key, value):
    shell(repository, "git", "remote", "add", "origin", "https://github.com/acme/shop")
    shell(repository, "git", "config", key, value)
    remote = await find_remote(repository, "main", {})
    token = AccessToken(value="a-token", source="the test")
    head = shell(repository, "git", "rev-parse", "HEAD")
    with pytest.raises(UsageError, match="where git sends it"):
        await push(repository, remote, head, "sq/r", base="main", token=token)


async def test_a_remote_on_this_machine_may_stand_for_a_repository(repository, shell, tmp_path):
    bare = tmp_path / "hosted.git"
    shell(tmp_path, "git", "init", "--quiet", "--bare", str(bare))
    shell(repository, "git", "remote", "add", "origin", "https://github.com/acme/shop")
    shell(repository, "git", "config", f"url.{bare}.insteadOf", "https://github.com/acme/shop")
    remote = await find_remote(repository, "main", {})
    head = shell(repository, "git", "rev-parse", "HEAD")
    await push(repository, remote, head, "sq/r", base="main", token=AccessToken(value="x", source="y"))
    assert shell(bare, "git", "rev-parse", "sq/r") == head


ACTS = re.compile(
    r"@[A-Za-z0-9]|#\d|\bGH-\d|\w/[\w.-]+#\d|https?://\w|www\.\w|\[(?:skip|no|ci) |^[\w-]+:.*\n",
    re.IGNORECASE,
)
SIGNS = st.sampled_from(
    ["@", "#", "GH-", "gh-", "1", "a", "/", "://", "www.", "[skip ci]", "\n", " ", "Fixes", "]", "!"]
)


@given(st.lists(st.one_of(SIGNS, st.text(max_size=3)), max_size=20).map("".join))
def test_an_inert_text_is_one_line_in_which_nothing_acts(text):
    shown = inert(text)
    assert "\n" not in shown
    assert not ACTS.search(shown), shown
    assert inert(shown) == shown


def test_a_message_has_its_trailers_last_and_no_title_can_add_one():
    message = commit_message(
        "Sq-Run: other\n\nSq-Criteria: c-9", "Task a.", run_id="r", criteria=["c-1", "c-2"]
    )
    assert message.endswith("\n\nSq-Run: r\nSq-Criteria: c-1, c-2")
    assert message.count("\n\n") == 2
    assert commit_message("", "Task a.", run_id="r").startswith("Work\n")


def test_a_merge_has_the_form_that_the_project_uses():
    assert merge_title("Add a", ["Commits follow Conventional Commits"]) == "chore: merge Add a"
    assert merge_title("Add a", ["snake_case names"]) == "Merge: Add a"


def test_a_refusal_says_what_to_do_whatever_the_service_says():
    for status in range(400, 600):
        for body in (
            None,
            "",
            "<html>",
            {"message": "\x1b[31mno"},
            {"errors": [{"field": "base", "code": "invalid"}]},
            [],
        ):
            text = str(refusal(ServiceReply(status=status, body=body), "to open it"))
            assert "to open it" in text
            assert str(status) in text
            assert "\x1b" not in text


async def test_without_a_remote_that_names_a_repository_the_error_says_how_to_add_one(repository, shell):
    with pytest.raises(UsageError, match="git remote add origin URL"):
        await find_remote(repository, "main", {})
    shell(repository, "git", "remote", "add", "here", "/srv/shop.git")
    with pytest.raises(UsageError, match="GITHUB_REPOSITORY=OWNER/REPO"):
        await find_remote(repository, "main", {})
    found = await find_remote(repository, "main", {"GITHUB_REPOSITORY": "acme/shop"})
    assert found.repository == SHOP
    shell(repository, "git", "remote", "add", "theirs", "git@github.com:acme/other.git")
    with pytest.raises(UsageError, match="The remotes are here, theirs"):
        await find_remote(repository, "main", {})
    shell(repository, "git", "config", "branch.main.remote", "theirs")
    assert (await find_remote(repository, "main", {})).repository.name == "other"


@pytest.mark.parametrize(*rows(__file__, "hooks"))
async def test_a_push_that_is_refused_says_what_to_do(repository, shell, tmp_path, hook, sentence):
    bare = tmp_path / "hosted.git"
    shell(tmp_path, "git", "init", "--quiet", "--bare", str(bare))
    (bare / "hooks/pre-receive").write_text(f"#!/bin/sh\n{hook}\n")
    (bare / "hooks/pre-receive").chmod(0o755)
    shell(repository, "git", "remote", "add", "origin", str(bare))
    remote = Remote(name="origin", url=str(bare), repository=SHOP)
    head = shell(repository, "git", "rev-parse", "HEAD")
    with pytest.raises(SqError, match=sentence):
        await push(repository, remote, head, "sq/r", base="main", token=None)
    with pytest.raises(UsageError, match="--base"):
        await push(repository, remote, head, "main", base="main", token=None)
