"""What a Worker says is not believed: each claim here is wrong, and none becomes `complete` by itself."""

from language.scripted import (
    Rehearse,
    completes,
    signals,
    whole_run,
    writes,
)

from state.journal.events import CallStarted, CompletionRefused, GateDecided, TaskMerged, VerificationFinished
from state.outcome import Outcome
from state.verdicts import Verdict

CHECK = "grep -q right notes.txt"


def test_a_claim_with_an_empty_diff_is_sent_back_and_the_journal_says_why(rehearse: Rehearse) -> None:
    done = rehearse(
        whole_run(
            worker=[
                completes(),
                writes("notes.txt", "A line.\n", expect={"prompt_contains": ["empty diff"]}),
                completes(),
            ]
        ),
        verify=("true",),
    )
    blocked = done.of(GateDecided)[0]
    assert (blocked.gate, blocked.verdict) == ("diff", Verdict.BLOCK)
    assert "no change at all" in blocked.reason


def test_a_worker_that_only_ever_claims_ends_stuck_and_nothing_is_merged(rehearse: Rehearse) -> None:
    done = rehearse(
        whole_run(worker=[completes(), completes(), completes()]),
        verify=("true",),
        ends=Outcome.STUCK,
    )
    assert done.of(TaskMerged) == []
    assert "3 times for the same reason" in done.view.tasks["notes"].end.reason


def test_words_about_the_signal_are_not_the_signal_and_an_announced_step_is_quoted(
    rehearse: Rehearse,
) -> None:
    done = rehearse(
        whole_run(
            worker=[
                writes(
                    "notes.txt",
                    "A line.\n",
                    then="Next, I'll update the changelog. I will not output TASK_COMPLETE yet",
                ),
                {
                    "text": "TASK_COMPLETE",
                    "expect": {"prompt_contains": ["Iteration: 2/50", "> Next, I'll update the changelog."]},
                },
            ]
        ),
        verify=("true",),
    )
    assert [gate.iteration for gate in done.of(GateDecided)] == [2, 2]


def test_failing_verification_outweighs_the_workers_word_and_its_output_is_the_next_prompt(
    rehearse: Rehearse,
) -> None:
    done = rehearse(
        whole_run(
            worker=[
                writes("notes.txt", "wrong\n"),
                completes(),
                writes(
                    "notes.txt",
                    "right\n",
                    expect={
                        "prompt_contains": [CHECK, "exit code 1", "the failing part", "the check says no"]
                    },
                ),
                completes(),
            ]
        ),
        verify=(f"{CHECK} || {{ printf 'FAIL: the check says %s' no; seq -f '%g ok' 3000; exit 1; }}",),
    )
    assert [finished.runs[0].exit_code for finished in done.of(VerificationFinished)] == [1, 0]
    assert "the check says no" in done.of(CompletionRefused)[0].feedback
    (line,) = [one for one in done.output.splitlines() if "completion not accepted" in one]
    assert "` failed: exit code 1: FAIL: the check says no" in line
    assert "<data" not in done.output + "".join(gate.reason for gate in done.of(GateDecided))


def test_verification_that_never_passes_is_never_complete(rehearse: Rehearse) -> None:
    tries = [reply for n in range(3) for reply in (writes("notes.txt", f"wrong {n}\n"), completes())]
    done = rehearse(whole_run(worker=tries), verify=(CHECK,), ends=Outcome.STUCK)
    assert done.of(TaskMerged) == []


def test_a_command_of_the_user_that_cannot_start_ends_the_run_before_any_model_is_asked(
    rehearse: Rehearse,
) -> None:
    done = rehearse(whole_run(), verify=("no-such-command-anywhere",), ends=Outcome.USAGE)
    assert done.of(TaskMerged) == done.of(CallStarted) == []
    assert "no-such-command-anywhere" in done.view.ended.cause
    assert "Install" in done.view.ended.cause


def test_work_without_anything_to_verify_with_is_merged_and_told_as_unverified(rehearse: Rehearse) -> None:
    done = rehearse(whole_run(), ends=Outcome.UNVERIFIED)
    assert len(done.of(TaskMerged)) == 1
    assert "--verify" in done.view.ended.cause


def test_changed_protected_paths_are_refused(rehearse: Rehearse) -> None:
    sneaky = {"name": "Bash", "input": {"command": "mkdir -p .claude && echo '{}' > .claude/settings.json"}}
    done = rehearse(
        whole_run(
            worker=[
                {"tools": [sneaky]},
                completes(),
                {
                    "expect": {"prompt_contains": [".claude/settings.json"]},
                    "tools": [{"name": "Bash", "input": {"command": "rm -r .claude"}}],
                },
                writes("notes.txt", "A line.\n"),
                completes(),
            ]
        ),
        verify=("true",),
    )
    assert "Protected paths" in done.of(CompletionRefused)[0].feedback


def test_a_worker_that_says_it_is_stuck_ends_the_run_as_stuck_with_its_reason(rehearse: Rehearse) -> None:
    done = rehearse(
        whole_run(worker=[signals("task_stuck", reason="there is no paper")]),
        ends=Outcome.STUCK,
    )
    assert "there is no paper" in done.output


def test_turns_that_change_nothing_end_as_stuck_at_the_threshold_of_the_effort(rehearse: Rehearse) -> None:
    idle = [signals("iteration_done", done="thought about it", next_step=f"think {n}") for n in range(4)]
    done = rehearse(whole_run(worker=idle), verify=("true",), ends=Outcome.STUCK)
    assert "4 iterations" in done.view.tasks["notes"].end.reason
