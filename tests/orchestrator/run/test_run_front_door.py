"""The product as its users get it, asked of the claim after which nothing is left to build."""

from collections.abc import Callable
from pathlib import Path

from language.scripted import Rehearse, completes, criterion, passes, plans, whole_run, writes

from orchestrator.checks.objecting import FRONT_DOOR
from state.journal.events import CompletionRefused, ProofsTaken

Shell = Callable[..., str]
CLOSED = "[ $# = 0 ] || { echo 'usage: greet.sh' >&2; exit 2; }\necho hello\n"
OPEN = '[ "$1" = --loud ] && echo HELLO || echo hello\n'
TESTS = "sh greet.sh | grep -q hello\n"
LOUD = "loud() { echo HELLO; }\n"
TESTS_LOUD = "sh greet.sh | grep -q hello && . ./loud.sh && [ $(loud) = HELLO ]\n"
SPEC = "# Greet\n\n`sh greet.sh --loud` greets loudly.\n"


def begins(repository: Path, shell: Shell) -> None:
    (repository / "greet.sh").write_text(CLOSED)
    (repository / "tests.sh").write_text(TESTS)
    shell(repository, "git", "add", "--all")
    shell(repository, "git", "commit", "--quiet", "-m", "Files")


def test_the_worker_of_a_lone_task_hears_of_the_front_door_while_it_can_mend(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    begins(repository, shell)
    work = [writes("loud.sh", LOUD), writes("tests.sh", TESTS_LOUD), completes()]
    mends = [writes("greet.sh", OPEN), completes(), completes()]
    done = rehearse(
        whole_run(worker=[*work, *mends]), spec=SPEC, verify=("sh tests.sh",), effort="low", ends=None
    )
    refused = [one for one in done.of(CompletionRefused) if FRONT_DOOR in one.heard]
    assert ["usage: greet.sh" in one.feedback for one in refused] == [True]
    assert not [one for one in done.of(ProofsTaken)[-1].objections if one.check == FRONT_DOOR]


def test_of_several_tasks_the_last_one_alone_is_asked_for_what_all_of_them_build(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    begins(repository, shell)
    plan = plans("first", "last", criteria=[criterion("It greets", "first", "last")], last=["first"])
    done = rehearse(
        whole_run(
            planner=[plan],
            **{
                "worker/first/1": [writes("loud.sh", LOUD), writes("tests.sh", TESTS_LOUD), completes()],
                "worker/last/1": [
                    writes("more.sh", "more() { loud; }\n"),
                    completes(),
                    writes("greet.sh", OPEN),
                    completes(),
                    completes(),
                ],
                "reviewer/first/*": [passes()],
                "reviewer/last/*": [passes()],
            },
        ),
        spec=SPEC.replace("--loud", "--more"),
        verify=("sh tests.sh",),
        effort="low",
        ends=None,
    )
    refused = [one.task_id for one in done.of(CompletionRefused) if FRONT_DOOR in one.heard]
    assert refused == ["last"]
