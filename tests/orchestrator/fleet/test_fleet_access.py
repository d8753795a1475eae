"""A fleet whose repository is private, on a hosting service: its git, its issues, its pull requests."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from language.fleets import SPEC, FleetHere, scenario
from language.git_http import USER, git_over_http
from language.hosting import SLUG, TOKEN, HostingStandIn, hosting

from benchmarks.rehearsed import git

pytestmark = pytest.mark.late  # processes of whole fleets
WRONG = "wrong"
HELPER = f'[credential]\n\thelper = "!f() {{ echo username={USER}; echo \\"password=$GH_ENTERPRISE_TOKEN\\"; }}; f"\n'


@pytest.fixture
def service() -> Iterator[HostingStandIn]:
    with hosting() as made:
        yield made


@pytest.fixture
def private(local: FleetHere) -> Iterator[tuple[FleetHere, str]]:
    """A fleet and the address of its repository, which git reaches with the token of its environment."""
    (local.folder / "spec.md").write_bytes(SPEC)
    (local.folder / "scenario.yaml").write_bytes(scenario())
    (local.folder / "acme").mkdir()
    (local.folder / "acme" / "shop.git").symlink_to(local.server)
    git(local.server, "config", "http.receivepack", "true")
    for home in ("user", "here-0"):
        (local.folder / home).mkdir()
        (local.folder / home / ".gitconfig").write_text(HELPER)
    with git_over_http(local.folder, TOKEN) as address:
        yield local, f"{address}/{SLUG}.git"


def submit(fleet: FleetHere, url: str, spec: str, *more: str, code: int = 0, **env: str) -> str:
    where = ("--repository", url, "--rehearse", "scenario.yaml", "--effort", "low", *more)
    return fleet.sq("submit", spec, *where, code=code, **env)


def host_in(url: str) -> str:
    return url.split("/")[2]


def found_in(fleet: FleetHere, text: str) -> list[str]:
    objects = subprocess.run(
        ["git", "-C", str(fleet.server), "cat-file", "--batch", "--batch-all-objects"],
        capture_output=True,
        check=True,
    ).stdout
    database = b"".join(one.read_bytes() for one in fleet.folder.glob("fleet.db*") if one.is_file())
    return [name for name, data in (("refs", objects), ("database", database)) if text.encode() in data]


def test_a_private_repository_is_reached_by_gits_own_helper_and_its_work_offered_as_a_pull_request(
    private: tuple[FleetHere, str], service: HostingStandIn
) -> None:
    fleet, url = private
    rights = {"GH_ENTERPRISE_TOKEN": TOKEN, "GITHUB_API_URL": service.address}
    named = ("--host", host_in(url))
    service.branches = lambda: {
        name.removeprefix("refs/heads/"): commit
        for name, commit in (
            line.split()
            for line in git(
                fleet.server, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"
            ).splitlines()
        )
    }
    id_ = submit(fleet, url, "spec.md", "--pr", *named, **rights).split()[0]
    worker = fleet.worker("here", "--drain", *named, **rights)

    assert worker.process.wait(60) == 0
    row = fleet.json("show", id_)
    assert (row["outcome"], row["problem"]) == ("complete", "")
    (pull,) = service.pulls.values()
    assert pull["head"]["ref"] == row["branch"]
    assert row["pull_request"] == pull["html_url"]
    assert fleet.branches() == {f"refs/heads/{row['branch']}": row["commit"]}
    assert found_in(fleet, TOKEN) == []
    assert TOKEN not in worker.said


def test_a_worker_without_the_right_says_so_at_once(private: tuple[FleetHere, str]) -> None:
    fleet, url = private
    named = {"GH_HOST": host_in(url)}
    assert "Authentication failed" in submit(
        fleet, url, "spec.md", code=2, **named, GH_ENTERPRISE_TOKEN=WRONG
    )
    assert "Authentication failed" in submit(fleet, url, "spec.md", code=2, GH_ENTERPRISE_TOKEN=TOKEN)
    id_ = submit(
        fleet, url, "spec.md", "--host", named["GH_HOST"], GH_ENTERPRISE_TOKEN=TOKEN, GH_HOST="other.example"
    ).split()[0]
    fleet.worker("here", **named, GH_ENTERPRISE_TOKEN=WRONG)
    (unit,) = fleet.until_ended(id_, within_s=30)

    assert unit.report is not None
    assert "Authentication failed" in unit.report.problem


def test_each_open_issue_with_a_label_is_a_submission(
    private: tuple[FleetHere, str], service: HostingStandIn
) -> None:
    fleet, url = private
    for number, labels in ((12, ["night"]), (14, ["night", "big"]), (13, ["day"]), (15, ["night"])):
        service.add_issue(f"Notes {number}", SPEC.decode(), number=number)
        service.issues[number]["labels"] = [{"name": one} for one in labels]
    service.issues[15]["state"] = "closed"
    own = {"GH_ENTERPRISE_TOKEN": TOKEN, "GH_HOST": host_in(url)}
    rights = {"GITHUB_TOKEN": TOKEN, "GITHUB_API_URL": service.address, **own}

    said = submit(fleet, url, f"gh:{SLUG}@night", **rights)

    assert [line.rpartition(": ")[2] for line in said.splitlines()] == [f"{SLUG}#12", f"{SLUG}#14"]
    assert len(fleet.engine.units()) == 2
    assert "no open issue with the label none" in submit(fleet, url, f"gh:{SLUG}@none", code=2, **rights)
    assert "names no issues" in submit(fleet, url, "gh:nothing@night", code=2, **rights)
    assert "GITHUB_TOKEN" in submit(
        fleet, url, f"gh:{SLUG}@night", code=2, GITHUB_API_URL=service.address, **own
    )


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("HTTPS://me:secret@127.0.0.1:1/r", "holds a password or token"),
        ("https://ghp_0123456789abcdefghijklmnop@127.0.0.1:1/r", "holds a password or token"),
        ("https://127.0.0.1:1/r?private_token=abc", "holds a password or token"),
        ("http://me@127.0.0.1:1/r", "http://127.0.0.1:1/r cannot be read"),
    ],
)
def test_no_address_with_a_right_in_it_gets_into_the_database(
    local: FleetHere, tmp_path: Path, url: str, said: str
) -> None:
    (local.folder / "spec.md").write_bytes(SPEC)
    assert said in local.sq("submit", "spec.md", "--repository", url, code=2)
