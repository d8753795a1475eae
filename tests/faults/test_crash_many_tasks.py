"""`kill -9` while tasks run side by side: each resume ends with the same tree, and nothing is asked twice.

In the whole matrix Claude Code is played at most points, and real at some.
"""

import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import killed
import pytest
import yaml
from crashes import Bench, MakeBench, Shell, crash_everywhere, environment
from language.many_tasks import EDITORS, SPEC, TWELVE, VERIFY, WORDS, callers_of

from agents.process.containment import Containment
from state.journal.store import JournalReader
from state.outcome import Outcome
from state.settings.sources import user_file

WAY = (Containment.SUPERVISOR, killed.ALONE)
RANDOM_POINTS, RANDOM_PARTS = 100, 10
REAL_POINTS = 6
REAL_EVERY = 10
PLACES = 4
PARTS = 2  # of a matrix, for as many workers
MakeMany = Callable[..., MakeBench]


def many_bench(folder: Path, tasks: tuple[str, ...], environ: dict[str, str]) -> Bench:
    """A repository with a line of words, and the scenario and spec of these tasks beside it."""
    git = ["git", "-c", "user.name=Owner", "-c", "user.email=owner@localhost", "-C", str(folder)]
    (folder / "project").mkdir(parents=True)
    git[-1] = str(folder / "project")
    (folder / "project" / WORDS).write_text("ant\n")
    for arguments in (["init", "-qb", "main"], ["add", WORDS], ["commit", "-qm", "Words"]):
        subprocess.run([*git, *arguments], check=True)
    scenario, spec = folder / "scenario.yaml", folder / "spec.md"
    scenario.write_text(yaml.safe_dump({"scenario": 1, "description": "many", "callers": callers_of(*tasks)}))
    spec.write_text(SPEC)
    return Bench(
        folder=folder / "project",
        scenario=scenario,
        spec=spec,
        environ=environ,
        flags={
            "max_parallel": ("--max-parallel", str(PLACES)),
            "verify": ("--verify", (VERIFY,)),
        },
        outcome=Outcome.STUCK if tasks == TWELVE else Outcome.COMPLETE,
    )


def plain_effort() -> None:
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text('[efforts.medium]\nreview_plan = false\npower_steering = "none"\n')


@pytest.fixture
def many(tmp_path: Path, home: Path, processes: None) -> Iterator[MakeMany]:
    """Makes benches for runs of these tasks."""
    made: list[Bench] = []

    def for_tasks(*tasks: str) -> MakeBench:
        def make(containment: Containment) -> Bench:
            made.append(many_bench(tmp_path / f"many {len(made)}", tasks, environment(containment)))
            return made[-1]

        return make

    plain_effort()
    yield for_tasks
    for one in made:
        shutil.rmtree(one.folder.parent, ignore_errors=True)


def not_killed(many: MakeMany, tasks: tuple[str, ...], shell: Shell) -> tuple[str, int]:
    """The tree of a run that nobody kills, and how many transactions its journal has."""
    one = many(*tasks)(WAY[0])
    one.played = True
    assert one.begin() == one.outcome.exit_code
    with JournalReader(one.run_folder) as journal:
        transactions = {stored.at for stored in journal.read()}
    return shell(one.folder, "git", "rev-parse", "main^{tree}"), len(transactions)


def random_points(transactions: int, number: int) -> list[int]:
    """So many points among these transactions, the last few left out: fewer may come in another run."""
    return random.Random(transactions).choices(range(1, int(transactions * 0.95)), k=number)  # noqa: S311


@pytest.mark.late
@pytest.mark.timeout(240)
def test_a_killed_merge_of_two_tasks_in_conflict_resumes_to_the_same_tree(
    many: MakeMany, shell: Shell
) -> None:
    tree, transactions = not_killed(many, EDITORS, shell)
    points = [transactions * 3 // 4]  # the resolver is at work, or has just been
    assert crash_everywhere(many(*EDITORS), WAY, points, tree, shell) == 1


@pytest.mark.crash
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(PARTS))
def test_two_tasks_in_conflict_killed_after_any_stored_transaction_resume_to_the_same_tree(
    many: MakeMany, shell: Shell, part: int
) -> None:
    tree, transactions = not_killed(many, EDITORS, shell)
    points = range(1 + part, 1000, PARTS)
    crashed = crash_everywhere(many(*EDITORS), WAY, points, tree, shell, played=True)
    assert crashed > 0.9 * transactions / PARTS


@pytest.mark.crash
@pytest.mark.timeout(7200)
def test_two_tasks_in_conflict_at_work_with_claude_code_resume_to_the_same_tree(
    many: MakeMany, shell: Shell
) -> None:
    tree, transactions = not_killed(many, EDITORS, shell)
    points = range(REAL_EVERY // 2, 1000, REAL_EVERY)
    assert crash_everywhere(many(*EDITORS), WAY, points, tree, shell) > 0.8 * transactions / REAL_EVERY


@pytest.mark.crash
@pytest.mark.timeout(14400)
@pytest.mark.parametrize("part", range(RANDOM_PARTS))
def test_twelve_tasks_killed_at_random_points_resume_to_the_same_tree(
    many: MakeMany, shell: Shell, part: int
) -> None:
    tree, transactions = not_killed(many, TWELVE, shell)
    own = random_points(transactions, RANDOM_POINTS)[part::RANDOM_PARTS]
    assert crash_everywhere(many(*TWELVE), WAY, own, tree, shell, played=True) == len(own)


@pytest.mark.crash
@pytest.mark.timeout(7200)
def test_twelve_tasks_at_work_with_claude_code_killed_at_random_points_resume_to_the_same_tree(
    many: MakeMany, shell: Shell
) -> None:
    tree, transactions = not_killed(many, TWELVE, shell)
    points = random_points(transactions + 1, REAL_POINTS)
    assert crash_everywhere(many(*TWELVE), WAY, points, tree, shell) == len(points)
