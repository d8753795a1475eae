"""Checks that fail for one reason are one line with their number and names."""

from datetime import UTC, datetime

from language.beginnings import call_started

from orchestrator.cli.doctor.checks import check_lines, fail, warn
from orchestrator.gates.power_steering.examination import decide
from orchestrator.gates.session_state.records import CheckResults
from orchestrator.views.run.story import lines_of
from state.journal import events as e
from state.journal.events import Stored
from state.journal.fold.fold import apply
from state.journal.view import RunView
from state.records.calls import CallEnd
from state.records.plan import Task
from state.roles import Role
from state.verdicts import CheckResult, Source
from state.words import checks_named

NOW = datetime(2026, 1, 31, tzinfo=UTC)
IDS = [f"check_{number:02}" for number in range(20)]
OVERLOADED = "status 529: overloaded, request req_{number:03}"


def shown(*events):
    """The lines of each event, one after the other."""
    view, lines = RunView(), []
    planned = e.PlanAccepted(tasks=(Task(id="a", title="A", description=""),), criteria=())
    for seq, event in enumerate((planned, *events), start=1):
        stored = Stored(seq, NOW, event)
        apply(view, stored)
        lines.append(lines_of(view, stored))
    return [line for each in lines[1:] for line in each]


def asked(id_, iteration=1):
    return call_started(id_, Role.JUDGE, "a", iteration=iteration, prompt=id_)


def result(number, **more):
    reason = f"the judge did not answer: {OVERLOADED.format(number=number)}"
    given = {"satisfied": True, "blocker": True, "source": Source.NOT_CHECKED, "reason": reason, **more}
    return CheckResult(consideration_id=IDS[number], **given)


def test_twenty_questions_to_the_judge_that_fail_alike_are_one_line_and_the_checks_another():
    calls = [asked(id_) for id_ in IDS]
    ends = [
        e.CallEnded(call_id=id_, end=CallEnd.API_ERROR, detail=OVERLOADED.format(number=number))
        for number, id_ in enumerate(IDS)
    ]
    decided = e.ChecksDecided(task_id="a", attempt=1, iteration=1, results=tuple(map(result, range(20))))
    names = f"{', '.join(IDS[:10])} and 10 more"
    assert shown(*calls, *ends, decided) == [
        "a: judge: api error: status 529: overloaded, request req_000",
        "a: power steering: 20 checks, 0 not met, 20 not checked",
        f"    not checked: 20 checks ({names}): the judge did not answer",
    ]


def test_checks_without_an_answer_are_told_with_their_reason_where_no_line_has_shown_it():
    decided = e.ChecksDecided(task_id="a", attempt=1, iteration=1, results=(result(0), result(1)))
    told = "the judge did not answer: status 529: overloaded, request req_000"
    assert shown(decided)[1:] == [f"    not checked: 2 checks (check_00, check_01): {told}"]


def test_each_wave_of_tries_is_one_line_and_another_failure_is_told_too():
    def again(id_, wait_s, detail="overloaded"):
        return e.CallRetried(call_id=id_, end=CallEnd.API_ERROR, detail=detail, wait_s=wait_s)

    calls = [asked("x"), asked("y"), asked("z")]
    waves = [again(id_, wait_s) for wait_s in (1, 2) for id_ in ("x", "y")]
    assert shown(*calls, *waves, again("z", 1, "refused")) == [
        "judge: api error (overloaded), again in 1.0 s",
        "judge: api error (overloaded), again in 2.0 s",
        "judge: api error (refused), again in 1.0 s",
    ]


def test_the_same_failure_of_a_later_claim_is_told_again():
    ends = [e.CallEnded(call_id=id_, end=CallEnd.API_ERROR, detail="overloaded") for id_ in ("x", "y")]
    assert len(shown(asked("x"), ends[0], asked("y", iteration=2), ends[1])) == 2


def test_checks_that_are_not_met_for_one_reason_are_one_line_and_others_keep_their_own():
    unmet = {"satisfied": False, "source": Source.RULE}
    results = (
        result(0, **unmet, reason="no test was run"),
        result(1, **unmet, reason="no test was run"),
        result(2, **{**unmet, "blocker": False}, reason="no test was run"),
        result(3, **unmet, reason="todos are open"),
    )
    decided = e.ChecksDecided(task_id="a", attempt=1, iteration=1, results=results)
    assert shown(decided)[1:] == [
        "    blocker 2 checks (check_00, check_01): no test was run",
        "    warning check_02: no test was run",
        "    blocker check_03: todos are open",
    ]


def test_the_notes_for_people_say_one_reason_once():
    decision = decide([result(number) for number in range(3)], {}, CheckResults())
    assert decision.notes == (
        "3 of 3 checks could not be made",
        (
            "3 checks (check_00, check_01, check_02): the judge did not answer: "
            "status 529: overloaded, request req_000"
        ),
    )


def test_doctor_tells_what_several_checks_found_alike_in_one_line():
    same = {"found": "claude-agent-sdk is not installed", "advice": "`install it`"}
    lines = check_lines(
        [fail("agent sdk", **same), warn("git", "old", "update"), fail("claude code", **same)]
    )
    assert lines == [
        "fail  agent sdk, claude code  claude-agent-sdk is not installed",
        "                              → `install it`",
        "warn  git                     old",
        "                              → update",
        "2 check(s) failed: sq cannot work here until they are put right",
    ]


def test_one_check_is_named_and_many_are_counted():
    assert checks_named(["a"]) == "a"
    assert checks_named(["a", "b"]) == "2 checks (a, b)"
