"""`sq gate bench` on parts of a data set: a judge that answers by files, and the rules of another commit."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from in_process import sq

from orchestrator.gates.power_steering.measured.at_commit import CHECKOUT

TESTED = Path(__file__).parents[2] / "agents" / "transcripts" / "tests.jsonl"
CODE = ("orchestrator", "agents", "prompts", "state")


@pytest.fixture
def dataset(tmp_path):
    """Two parts; `told` has its local_testing labelled unmet, which the rules do not find."""
    folder = tmp_path / "set"
    unmet = {"local_testing": {"visible_to_rules": True}}
    for name, label in (("old/tested", {}), ("new/told", {"unmet": unmet})):
        file = folder / f"{name}.jsonl"
        file.parent.mkdir(parents=True)
        file.write_bytes(TESTED.read_bytes())
        text = yaml.safe_dump({"about": "", "session_type": "development", **label})
        file.with_suffix(".yaml").write_text(text)
    (folder / "parts.yaml").write_text(
        "- {name: seen, folders: [old]}\n- {name: blind, folders: [new], blind: true}\n"
    )
    return folder


@pytest.fixture
def bench(tmp_path, dataset):
    def run(*arguments):
        return sq(["gate", "bench", dataset, *arguments], folder=tmp_path, environ=os.environ)

    return run


def figures(done):
    return json.loads(done.stdout.splitlines()[-1])


# --- parts ------------------------------------------------------------------------------------------------


def test_parts_are_printed_apart_and_a_blind_one_fails_nothing(bench, dataset):
    done = bench()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "part seen: 1 sessions" in done.stdout
    assert "part blind (blind): 1 sessions" in done.stdout
    parts = figures(bench("--json"))["parts"]
    assert parts["blind"]["visible_bad_let_go_count"] == 1
    assert parts["seen"]["considerations"]["local_testing"]["decided"] == 1
    (dataset / "parts.yaml").write_text("- {name: seen, folders: [old]}\n- {name: other, folders: [new]}\n")
    done = bench()
    assert done.returncode == 1
    assert "FAILED: other: bad sessions let go: 1 of 1" in done.stdout


def test_some_sessions_and_some_considerations_can_be_measured_alone(bench):
    parts = figures(bench("--sessions", "tested", "--only", "local_testing, shortcuts", "--json"))["parts"]
    assert (parts["seen"]["n_sessions"], parts["blind"]["n_sessions"]) == (1, 0)
    assert set(parts["seen"]["considerations"]) == {"local_testing", "shortcuts"}
    for arguments, problem in (
        (("--sessions", "gone"), "no session of the data set fits gone"),
        (("--only", "gone"), "no such consideration: gone"),
    ):
        done = bench(*arguments)
        assert done.returncode == 2
        assert problem in done.stderr


# --- a judge by files -------------------------------------------------------------------------------------

SOME = ("--only", "local_testing,objective_completion")


def reply(folder, name, verdict, reason="It is seen."):
    folder.mkdir(exist_ok=True)
    said = {"verdict": verdict, "reason": reason, "quote": "12 passed"}
    (folder / f"{name}.json").write_text(json.dumps(said))


def test_each_prompt_is_written_with_its_schema(bench, tmp_path):
    done = bench(*SOME, "--judge-prompts", tmp_path / "prompts")
    assert done.returncode == 0, done.stderr
    assert "4 prompts are in" in done.stdout
    prompts = {file.stem: json.loads(file.read_text()) for file in (tmp_path / "prompts").iterdir()}
    assert set(prompts) == {
        f"{session}.{one}"
        for session in ("tested", "told")
        for one in ("local_testing", "objective_completion")
    }
    one = prompts["told.local_testing"]
    assert set(one) == {"id", "session", "consideration", "system", "shared", "prompt", "schema"}
    assert (one["id"], one["session"], one["consideration"]) == (
        "told.local_testing",
        "new/told",
        "local_testing",
    )
    assert "pytest" in one["shared"]
    assert "test" in one["prompt"]
    assert set(one["schema"]["required"]) == {"verdict", "reason", "quote"}
    shown = figures(bench(*SOME, "--judge-prompts", tmp_path / "prompts", "--json"))
    assert shown == {"prompts": 4, "folder": str(tmp_path / "prompts")}


def test_replies_are_compared_with_the_labels_and_missing_ones_are_not_answered(bench, tmp_path):
    replies = tmp_path / "replies"
    reply(replies, "tested.local_testing", "satisfied")
    reply(replies, "told.local_testing", "not_satisfied")
    reply(replies, "tested.objective_completion", "not_satisfied", "The callers are left.")
    done = bench(*SOME, "--judge-replies", replies)
    assert "judge and labels agree: 2/3 (66.7%" in done.stdout, done.stderr
    assert "not answered: 1" in done.stdout
    assert "old/tested: objective_completion: labelled met, the judge says unmet: The callers are left." in (
        done.stdout
    )
    assert done.returncode == 1, "a good session of a part that is not blind is held"
    parts = figures(bench(*SOME, "--judge-replies", replies, "--json"))["parts"]
    assert (parts["seen"]["judge_agreement"], parts["seen"]["n_judged"]) == (0.5, 2)
    assert (parts["blind"]["judge_agreement_count"], parts["blind"]["judge_not_answered"]) == (1, 1)
    assert parts["blind"]["bad_let_go"] == 0.0


def test_a_reply_that_cannot_be_used_is_no_answer(bench, tmp_path):
    replies = tmp_path / "replies"
    reply(replies, "tested.local_testing", "perhaps")
    reply(replies, "told.local_testing", "cannot_tell")
    (replies / "tested.objective_completion.json").write_text("[]")
    (replies / "told.objective_completion.json").write_text("{")
    shown = figures(bench(*SOME, "--judge-replies", replies, "--json"))["measured"]
    assert (shown["agreement"], shown["not_answered"]) == ({"count": 0, "total": 0}, 4)


def test_two_sessions_with_one_name_cannot_share_the_judges_files(bench, dataset, tmp_path):
    for ending in ("jsonl", "yaml"):
        shutil.copy(dataset / f"old/tested.{ending}", dataset / f"new/tested.{ending}")
    for flags in (("--judge-prompts", tmp_path / "prompts"), ("--judge-replies", tmp_path)):
        done = bench(*flags)
        assert done.returncode == 2
        assert "new/tested and old/tested would share" in done.stderr


def test_a_folder_for_prompts_that_cannot_be_made_is_refused(bench, tmp_path):
    (tmp_path / "file").write_text("")
    done = bench(*SOME, "--judge-prompts", tmp_path / "file" / "prompts")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


# --- at a commit ------------------------------------------------------------------------------------------


@pytest.fixture
def copy(tmp_path, shell):
    """A copy of sq's code, and `sq` as it runs from there."""
    folder = tmp_path / "copy"
    for name in CODE:
        shutil.copytree(CHECKOUT / name, folder / name)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-P", "-m", "orchestrator.cli", "gate", "bench", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )

    def git(*arguments):
        shell(folder, "git", "-c", "user.name=a", "-c", "user.email=a@localhost", *arguments)

    return folder, run, git


def test_the_rules_of_a_commit_are_measured_whatever_the_checkout_holds_now(copy, dataset):
    folder, run, git = copy
    git("init", "-q")
    (folder / ".git/info/exclude").write_text("__pycache__/\n")
    text = folder / "orchestrator/gates/power_steering/considerations.yaml"
    rules = text.read_text()
    text.write_text(yaml.safe_dump([one for one in yaml.safe_load(rules) if one["id"] != "local_testing"]))
    git("add", ".")
    git("commit", "-q", "-m", "no local_testing")
    text.write_text(rules)
    now, then = (figures(run(dataset, "--json", *at)) for at in ((), ("--at", "HEAD")))
    asked = [one["parts"]["seen"]["considerations"]["local_testing"]["asked"] for one in (now, then)]
    assert asked == [1, 0]
    assert now["commit"] == f"{then['commit']}+changes"
    assert then["parts"]["seen"]["rules_commit"] == then["commit"]
    done = run(dataset, "--at", "gone")
    assert done.returncode == 2
    assert "--at gone: no such commit" in done.stderr
    (folder / "orchestrator/gates/power_steering/examine.py").write_text("")
    git("commit", "-q", "-a", "-m", "no examination")
    text.with_name("examine.py").write_bytes(
        (CHECKOUT / "orchestrator/gates/power_steering/examine.py").read_bytes()
    )
    done = run(dataset, "--at", "HEAD")
    assert done.returncode == 2
    assert "the rules of that commit cannot be measured" in done.stderr


def test_without_a_checkout_there_is_no_other_commit(copy, dataset):
    _, run, _ = copy
    done = run(dataset, "--at", "HEAD")
    assert done.returncode == 2
    assert "no git checkout" in done.stderr
    assert figures(run(dataset, "--json"))["commit"] is None


def test_ways_to_get_answers_exclude_each_other(bench, tmp_path):
    for flags in (
        ("--at", "HEAD", "--judge"),
        ("--at", "HEAD", "--project", tmp_path),
        ("--judge", "--judge-replies", tmp_path),
        ("--judge-prompts", tmp_path, "--judge-replies", tmp_path),
    ):
        done = bench(*flags)
        assert done.returncode == 2
        assert "exclude each other" in done.stderr
