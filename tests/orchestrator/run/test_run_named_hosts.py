"""A hosting service beside github.com: no token goes there, and nothing is pushed, before it is named."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from language.hosting import SLUG, TOKEN, HostingStandIn
from language.scripted import Rehearse, whole_run

from orchestrator.cli.main import cli

HOST = "git.firm.example"
Shell = Callable[..., str]


@pytest.fixture
def firm(
    service: HostingStandIn, repository: Path, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> HostingStandIn:
    """The service under another name, and a token of each kind."""
    address = f"https://{HOST}/{SLUG}.git"
    shell(repository, "git", "remote", "set-url", "origin", address)
    shell(repository, "git", "config", f"url.{tmp_path / 'hosted.git'}.insteadOf", address)
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", TOKEN)
    monkeypatch.delenv("GH_HOST", raising=False)
    return service


def test_work_is_handed_over_to_another_service_only_if_that_is_named(
    firm: HostingStandIn, rehearse: Rehearse, pr: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    branches = firm.branches()
    rehearse(whole_run(), verify=("grep -q line notes.txt",))
    result = pr("pr")
    assert (result.exit_code, f"--host {HOST}" in str(result.exception)) == (1, True)
    assert (firm.requests, firm.branches().keys() - branches.keys()) == ([], set())
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", TOKEN)
    assert pr("pr", "--host", HOST.upper()).exit_code == 0
    assert "GH_HOST" not in os.environ
    assert len(firm.pulls) == 1
    (number,) = firm.pulls
    for words in (("follow", str(number)), ("follow", str(number), "--host", "other.example")):
        monkeypatch.setenv("GH_ENTERPRISE_TOKEN", TOKEN)
        assert f"--host {HOST}" in str(pr(*words).exception)
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", TOKEN)
    assert "nothing is asked for" in pr("follow", str(number), "--host", HOST).output


@pytest.mark.parametrize("command", ["run", "check"])
def test_an_issue_of_another_service_is_read_only_if_that_is_named(
    command: str, firm: HostingStandIn, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("GITHUB_API_URL", firm.address)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    words = [command, "--spec", f"https://{HOST}/{SLUG}/issues/12"]
    assert f"--host {HOST}" in str(CliRunner().invoke(cli, words).exception)
    assert firm.requests == []
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", TOKEN)
    assert "issue" in str(CliRunner().invoke(cli, [*words, "--host", HOST]).exception)
    assert firm.requests
