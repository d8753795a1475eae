"""Merging: a conflict goes to a resolver whose word counts for nothing, and every queued one is really merged."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from language.many_tasks import EDITORS, SPEC, VERIFY, WORDS, callers_of
from language.scripted import Done, Rehearse, call, completes, passes, says, signals, worker, writes

from state.journal import events as e
from state.journal.events.tasks import Stage
from state.outcome import Outcome
from state.roles import Role

Shell = Callable[..., str]
BOTH = f"ant {' '.join(EDITORS)}\n"
RESOLVED = signals("conflict_resolved", summary="Both.")


def in_conflict(rehearse: Rehearse, *, tasks: Sequence[str] = EDITORS, **callers: Any) -> Done:
    """A run of tasks that add a word to the same line, side by side."""
    told: Mapping[str, Any] = {**callers_of(*tasks), **callers}
    return rehearse(told, spec=SPEC, verify=(VERIFY,), settings={"max_parallel": str(len(tasks))}, ends=None)


def words_on(words: Path, shell: Shell, revision: str = "main") -> str:
    return shell(words, "git", "show", f"{revision}:{WORDS}")


@pytest.mark.late
def test_a_conflict_is_resolved_verified_and_merged_and_the_branch_moves_once(
    rehearse: Rehearse, words: Path, shell: Shell
) -> None:
    noticed = "The file has no heading."
    told = ["Git could not merge these by itself", WORDS, f"The Resolver noticed: {noticed}", "++ant eel fox"]
    resolver = [
        {**says(call("Bash", command="git commit -am both"))},
        writes(WORDS, BOTH, expect={"tool_results_contain": ["sq concludes the merge", "`git add`"]}),
        says(call("Bash", command=f"git add {WORDS}")),
        signals("conflict_resolved", summary="Both.", noticed=noticed),
    ]
    done = in_conflict(
        rehearse, **{"resolver/*": resolver, "reviewer/final/1": [passes(prompt_contains=told)]}
    )
    assert done.outcome is Outcome.COMPLETE, done.output
    assert words_on(words, shell) == BOTH.strip()
    [conflicted] = done.of(e.MergeConflicted)
    assert conflicted.paths == (WORDS,)
    merged = done.of(e.TaskMerged)[-1]
    assert done.view.evidence.verifications[merged.tree].runs[0].passed
    assert shell(words, "git", "rev-list", "--parents", "-n1", "main").split()[1:] == [
        merged.onto,
        done.view.tasks[merged.task_id].claim.commit,
    ]
    assert "the merge conflicts in words.txt" in done.output
    assert len(shell(words, "git", "reflog", "main").splitlines()) == 3  # two first commits, and the end
    assert not Path(done.view.started.worktrees).exists()


@pytest.mark.late
@pytest.mark.claude
def test_a_file_that_the_resolver_keeps_as_it_is_and_marks_by_git_add_counts_as_resolved(
    rehearse: Rehearse, words: Path
) -> None:
    """Its content does not change, so that the index alone says it. In a sandbox that index is a copy."""
    removes = says(call("Bash", command=f"rm {WORDS}; echo eel > eel.txt"))
    callers = {
        **worker("eel", 1, removes, completes()),
        **worker("fox", 1, writes(WORDS, "fox\n"), completes()),
    }
    resolver = [says(call("Bash", command=f"git add {WORDS}")), RESOLVED]
    done = rehearse(
        {**callers_of(*EDITORS), **callers, "resolver/*": resolver},
        spec=SPEC,
        verify=("true",),
        settings={"max_parallel": "2"},
    )
    assert done.of(e.MergeConflicted)


NOT_RESOLVED = {
    "nothing was done": ([], "Conflict markers still stand in words.txt"),
    "markers were left": (
        [writes(WORDS, "<<<<<<< HEAD\nant eel\n=======\nant fox\n>>>>>>> MERGE_HEAD\n")],
        "Conflict markers still stand in words.txt",
    ),
    "markers were staged": (
        [says(call("Bash", command="git add -A"))],
        "Conflict markers still stand in words.txt",
    ),
    "one side was dropped": (
        [says(call("Bash", command=f"git show HEAD:{WORDS} > {WORDS}"))],
        "all work on this task is gone",
    ),
    "the tests fail": ([writes(WORDS, "zebra ant\n")], "failed with exit code 1"),
}

IN_EVERY_TEST_RUN = "markers were left"


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=() if what == IN_EVERY_TEST_RUN else pytest.mark.slow)
        for what in NOT_RESOLVED
    ],
)
def test_a_resolution_that_does_not_hold_is_not_believed_and_goes_back_to_the_resolver(
    rehearse: Rehearse, words: Path, shell: Shell, what: str
) -> None:
    does, why = NOT_RESOLVED[what]
    again = signals("conflict_resolved", summary="Now.", expect={"anywhere_contains": [why]})
    done = in_conflict(rehearse, **{"resolver/*": [*does, RESOLVED, writes(WORDS, BOTH), again]})
    assert done.outcome is Outcome.COMPLETE, done.output
    [refused] = done.of(e.ResolutionRefused)
    assert why in refused.reason
    assert words_on(words, shell) == BOTH.strip()


@pytest.mark.slow
def test_a_conflict_that_is_never_resolved_is_undone_and_its_task_is_built_anew_on_the_newest_work(
    rehearse: Rehearse, words: Path, shell: Shell
) -> None:
    again = [says(call("Bash", command=f"echo {BOTH.strip()} > {WORDS}")), completes()]
    done = in_conflict(
        rehearse,
        **{"resolver/*": [RESOLVED] * 3, "worker/eel/2": again, "worker/fox/2": again},
    )
    assert done.outcome is Outcome.COMPLETE, done.output
    assert len(done.of(e.ResolutionRefused)) == 3
    [failed] = done.of(e.MergeFailed)
    assert "3 resolutions did not hold" in failed.reason
    task = done.view.tasks[failed.task_id]
    assert (task.attempt, task.place.base_commit) == (2, failed.onto)
    assert words_on(words, shell) == BOTH.strip()
    second = [one for one in done.of(e.CallStarted) if one.role is Role.WORKER and one.attempt == 2]
    assert "conflicts with the work merged meanwhile" in second[0].prompt


@pytest.mark.slow
def test_a_resolver_that_gives_up_sends_the_task_back(rehearse: Rehearse, words: Path, shell: Shell) -> None:
    again = [says(call("Bash", command=f"echo {BOTH.strip()} > {WORDS}")), completes()]
    gives_up = signals("conflict_stuck", reason="one wants red, the other blue")
    done = in_conflict(rehearse, **{"resolver/*": [gives_up], "worker/eel/2": again, "worker/fox/2": again})
    assert done.outcome is Outcome.COMPLETE, done.output
    assert "one wants red" in done.of(e.MergeFailed)[0].reason
    assert words_on(words, shell) == BOTH.strip()


@pytest.mark.late
def test_every_queued_conflict_is_really_merged(rehearse: Rehearse, words: Path, shell: Shell) -> None:
    tasks = ("eel", "fox", "gnu")
    code = "import subprocess as s; w = set(); [w.update(s.run(['git', 'show', f'{r}:words.txt'], capture_output=True, text=True).stdout.split()) for r in ('HEAD', 'MERGE_HEAD')]; open('words.txt', 'w').write(' '.join(sorted(w)) + chr(10))"
    joins = says(call("Bash", command=f'python3 -c "{code}"'))
    adds = {
        f"worker/{task}/1": [says(call("Bash", command=f"echo ant {task} > {WORDS}")), completes()]
        for task in tasks
    }
    done = in_conflict(rehearse, tasks=tasks, **adds, **{"resolver/*": [joins, RESOLVED]})
    assert done.outcome is Outcome.COMPLETE, done.output
    assert len(done.of(e.MergeConflicted)) == 2
    assert words_on(words, shell) == "ant eel fox gnu"


@pytest.mark.slow
def test_work_that_merges_cleanly_and_fails_together_goes_back_and_is_built_on_the_newest_work(
    rehearse: Rehearse, repository: Path, shell: Shell
) -> None:
    """Each side passes alone; together they are one file too many."""
    one = [writes("eel.txt", "eel\n"), completes()]
    other = [writes("fox.txt", "fox\n"), completes()]
    fits = [says(call("Bash", command="rm -f eel.txt; echo eel fox > fox.txt")), completes()]
    callers = {
        **callers_of(*EDITORS),
        "worker/eel/1": one,
        "worker/fox/1": other,
        "worker/eel/2": fits,
        "worker/fox/2": fits,
    }
    done = rehearse(
        callers, spec=SPEC, verify=("test $(ls *.txt | wc -l) -le 1",), settings={"max_parallel": "2"}
    )
    [failed] = done.of(e.MergeFailed)
    assert "does not pass the verification" in failed.reason
    assert shell(repository, "git", "show", "main:fox.txt") == "eel fox"
    assert done.view.tasks[failed.task_id].stage is Stage.MERGED


@pytest.mark.slow
def test_side_by_side_means_at_the_same_time(rehearse: Rehearse, repository: Path) -> None:
    """Each Worker waits until the other one is at work too: one after the other they would never end."""
    meet = "touch {0}/{1}; for i in $(seq 200); do test -e {0}/{2} && exit 0; python3 -c 'import time; time.sleep(0.05)'; done; exit 1"
    place = repository.parent
    callers = {
        **callers_of(*EDITORS),
        "worker/eel/1": [
            says(call("Bash", command=meet.format(place, "eel", "fox"))),
            writes("eel.txt", "eel\n"),
            completes(),
        ],
        "worker/fox/1": [
            says(call("Bash", command=meet.format(place, "fox", "eel"))),
            writes("fox.txt", "fox\n"),
            completes(),
        ],
    }
    done = rehearse(callers, spec=SPEC, verify=("true",), settings={"max_parallel": "2", "sandbox": "off"})
    assert not [one for one in done.of(e.MessageReceived) if one.message.is_error]


@pytest.mark.slow
def test_the_resolvers_model_is_the_one_that_was_chosen(rehearse: Rehearse, words: Path) -> None:
    told = {
        **callers_of(*EDITORS),
        "resolver/*": [writes(WORDS, BOTH, expect={"model": "claude-opus-5-5"}), RESOLVED],
    }
    done = rehearse(
        told, spec=SPEC, verify=(VERIFY,), settings={"max_parallel": "2", "models.resolver": "opus"}
    )
    assert {one.model for one in done.of(e.CallStarted) if one.role is Role.RESOLVER} == {"opus:medium"}


# --- two additions at one place ---------------------------------------------------------------------------

TESTS = "test_words.py"
HEAD = "import unittest\n\n\nclass Ant(unittest.TestCase):\n    def test_ant(self):\n        self.assertTrue(True)\n"


def appends(word: str, claim: str = "True") -> list[Any]:
    code = f"@unittest.skipIf(False, 'never')\nclass {word.title()}(unittest.TestCase):\n    def test_{word}(self):\n        self.assertTrue({claim})\n"
    more = [writes(f"{word}.txt", f"{word}\n")]
    return [*more, says(call("Bash", command=f"cat >> {TESTS} <<'E'\n\n\n{code}E")), completes()]


@pytest.fixture
def tested(repository: Path, shell: Shell) -> Path:
    """A repository with one file of tests."""
    (repository / TESTS).write_text(HEAD)
    shell(repository, "git", "add", TESTS)
    shell(repository, "git", "commit", "--quiet", "-m", "Tests")
    return repository


def appending(rehearse: Rehearse, **callers: Any) -> Done:
    told = {**callers_of(*EDITORS), **{f"worker/{task}/1": appends(task) for task in EDITORS}, **callers}
    return rehearse(
        told, spec=SPEC, verify=("python3 -m unittest",), settings={"max_parallel": "2"}, ends=None
    )


@pytest.mark.late
def test_two_tasks_that_append_to_one_file_of_tests_need_no_resolver(
    rehearse: Rehearse, tested: Path, shell: Shell
) -> None:
    told = ["sq kept both additions", TESTS]
    callers = {"resolver/*": [], "reviewer/final/1": [passes(prompt_contains=told)]}
    done = appending(rehearse, **callers)
    assert done.outcome is Outcome.COMPLETE, done.output
    assert done.of(e.MergeConflicted) == []
    assert [one.united for one in done.of(e.MergeBuilt)] == [(), (TESTS,)]
    text = shell(tested, "git", "show", f"main:{TESTS}")
    assert all(text.count(f"def test_{word}(") == 1 for word in ("ant", *EDITORS))
    assert f"merged two additions at one place in {TESTS}" in done.output


@pytest.mark.slow
def test_two_additions_that_fail_together_are_a_conflict_for_the_resolver(
    rehearse: Rehearse, tested: Path, shell: Shell
) -> None:
    """Each addition passes alone: together the file has too many lines for both."""
    few = f"len(open({TESTS!r}).readlines()) < 15"
    callers: dict[str, Any] = {f"worker/{task}/1": appends(task, few) for task in EDITORS}
    classes = [
        f"class {word.title()}(unittest.TestCase):\n    def test_{word}(self): ...\n" for word in EDITORS
    ]
    callers["resolver/*"] = [writes(TESTS, "\n\n".join([HEAD, *classes])), RESOLVED]
    done = appending(rehearse, **callers)
    assert done.outcome is Outcome.COMPLETE, done.output
    [conflicted] = done.of(e.MergeConflicted)
    assert conflicted.paths == (TESTS,)
    assert [built.united for built in done.of(e.MergeBuilt)] == [(), ()]
    assert shell(tested, "git", "show", f"main:{TESTS}").count("TestCase") == 3


@pytest.mark.late
def test_two_additions_that_cannot_be_parsed_together_are_a_conflict_for_the_resolver(
    rehearse: Rehearse, tested: Path, shell: Shell
) -> None:
    (tested / "words.py").write_text("print(\n)\n")
    shell(tested, "git", "add", "words.py")
    shell(tested, "git", "commit", "--quiet", "-m", "Words")
    callers: dict[str, Any] = {
        f"worker/{task}/1": [says(call("Bash", command=f"sed -i '1a \\    {task!r}' words.py")), completes()]
        for task in EDITORS
    }
    callers["resolver/*"] = [writes("words.py", "print(1)\n"), RESOLVED]
    done = appending(rehearse, **callers)
    assert [one.paths for one in done.of(e.MergeConflicted)] == [("words.py",)], done.output
    assert shell(tested, "git", "show", "main:words.py") == "print(1)"
