"""`sq config show` as a user meets it: values, sources, own presets, mistakes."""

import json
import os
import sys

import pytest
from language.beginnings import run_started
from language.programs import ran

from state.journal.events import RunResumed
from state.journal.store import Journal
from state.paths import StateFolder
from state.settings.keys import KEYS

SQ = [sys.executable, "-I", "-m", "orchestrator.cli"]


@pytest.fixture
def show(tmp_path):
    def run(*arguments, folder=tmp_path, **environ):
        return ran([*SQ, "config", "show", *arguments], cwd=folder, env={**os.environ, **environ})

    return run


@pytest.fixture
def user_config(home):
    file = home / ".config" / "sq" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


def row(done, key):
    return next(line for line in done.stdout.splitlines() if line.split()[:1] == [key])


def test_outside_a_repository_every_key_is_shown_in_order_with_its_default(show):
    done = show()
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == ["key", *KEYS]
    assert row(done, "effort").split() == ["effort", "medium", "default"]
    assert row(done, "budget").split() == ["budget", "40", "effort", "medium"]
    assert "config.toml: not there" in done.stdout
    assert "sq.toml" not in done.stdout


def test_each_value_names_the_source_that_has_won(show, repository, user_config):
    user_config.write_text("effort = 'high'\nbudget = 3\n")
    (repository / "sq.toml").write_text("budget = 4\nverify = ['make test']\n")
    below = repository / "below"
    below.mkdir()
    done = show(folder=below, SQ_MAX_ITERATIONS="7")
    assert row(done, "effort").split() == ["effort", "high", str(user_config)]
    assert row(done, "budget").split() == ["budget", "4", str(repository / "sq.toml")]
    assert row(done, "verify").endswith(f'["make test"]  {repository / "sq.toml"}')
    assert row(done, "max_iterations").split() == ["max_iterations", "7", "SQ_MAX_ITERATIONS"]
    assert row(done, "models.planner").split() == ["models.planner", "opus:high", "effort", "high"]
    assert f"{repository / 'sq.toml'}: read" in done.stdout


def test_presets_and_prices_of_ones_own_are_shown_with_what_they_start_from(show, user_config):
    user_config.write_text("[efforts.night]\nlike = 'max'\nstuck_threshold = 9\n[prices.opus]\ninput = 3.5\n")
    done = show()
    assert row(done, "efforts.night.stuck_threshold").split()[1:] == ["9", str(user_config)]
    assert row(done, "efforts.night.review_depth").split()[1:] == ["comprehensive", "effort", "max"]
    assert row(done, "prices.opus.input").split()[1:] == ["3.5", str(user_config)]
    assert row(done, "prices.opus.output").split()[1:] == ["20", "default"]


def test_as_json_it_is_one_object_with_every_value_and_source(show, repository):
    (repository / "sq.toml").write_text("budget = 'none'\n[efforts.low]\nreview_plan = true\n")
    done = show("--json", folder=repository)
    shown = json.loads(done.stdout)
    assert list(shown["values"]) == list(KEYS)
    assert shown["values"]["budget"] == {"value": None, "source": str(repository / "sq.toml")}
    assert shown["own"]["efforts.low.review_plan"]["value"] is True
    assert shown["files"][-1] == {"path": str(repository / "sq.toml"), "found": True}


def test_mistakes_end_with_exit_code_2_and_are_all_told(show, repository, user_config):
    user_config.write_text("worktreees = false\n")
    (repository / "sq.toml").write_text("policy.allowed = ['pusch']\n")
    done = show("--json", folder=repository, SQ_BUDGET="lots")
    assert (done.returncode, done.stdout) == (2, "")
    for part in (
        "the configuration has 3 problems:",
        f"{user_config}: worktreees: unknown key, did you mean worktrees?",
        f'{repository / "sq.toml"}: policy.allowed: the policy has no rule "pusch", did you mean push?',
        'SQ_BUDGET needs a number above 0, or "none"; found the text "lots"',
    ):
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_control_characters_of_a_file_are_shown_and_do_not_steer_the_terminal(show, repository):
    (repository / "sq.toml").write_text('models.worker = "\\u001b[31mopus"\nbudget = "none"\n')
    assert row(show(folder=repository), "models.worker").split()[1] == "\\x1b[31mopus:medium"


def test_with_a_run_it_tells_what_held_when(show, repository):
    state = StateFolder(repository / "state")
    run_id, folder = state.new_run()
    with Journal(folder) as journal:
        journal.append(started(run_id, repository))
        resumed = RunResumed(verify=("make test",), budget_usd=7.0)
        journal.append(resumed)
    done = show(run_id, "--state-dir", str(state.root), folder=repository)
    assert done.returncode == 0, done.stderr
    verify = [line for line in done.stdout.splitlines() if line.startswith("verify ")]
    assert ["the start" in verify[0], "resume 1" in verify[1], '["make test"]' in verify[1]] == [True] * 3
    held = json.loads(show(run_id, "--state-dir", str(state.root), "--json", folder=repository).stdout)
    assert [one["value"] for one in held if one["key"] == "budget"] == [40.0, 7.0]


def started(run_id, repository):
    return run_started(run_id, repository=str(repository), worktrees="")
