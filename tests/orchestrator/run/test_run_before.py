"""Before the work: the spec is questioned, its questions are decided, a plan is given, approved, forecast."""

import json
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from language.scripted import (
    Done,
    Rehearse,
    call,
    completes,
    criterion,
    passes,
    plans,
    says,
    signals,
    whole_run,
    worker,
    writes,
)
from language.stopping import newest, stopping_after

from orchestrator.cli.runs.plans import plan_of, refuse_edited
from orchestrator.cli.runs.request import BeforeWork
from orchestrator.run.plan.answers import all_answers, answers_file, found_in, write_answers
from orchestrator.run.plan.approval import approve
from state.errors import JournalError, UsageError
from state.journal import events as e
from state.journal.store import Journal
from state.outcome import Outcome
from state.records.calls import CallEnd
from state.records.spec_check import Decider, FaultKind, SpecAnswer

SPEC = "# Notes\n\nCreate notes.txt with a line of text.\nThe line is short.\n"


def finding(line: int, asked: str, *options: str, **more: Any) -> dict[str, Any]:
    about = {"kind": "two meanings", "lines": [line], "question": asked, "why": f"{asked} Nobody says."}
    return {**about, "options": list(options), "recommended": options[0], "decides_outcome": True, **more}


COLOUR = finding(3, "Which language has the text?", "English", "German")
LENGTH = finding(4, "How short is short?", "20 characters", "80 characters", kind="unprovable")


def questions(*found: dict[str, Any], **reply: Any) -> dict[str, Any]:
    return {**signals("report_analysis", project_type="notes", spec_findings=list(found)), **reply}


def asked_run(*found: dict[str, Any], **callers: Sequence[Any]) -> dict[str, Any]:
    return whole_run(**{"planner/analysis/1": [questions(*found)], **callers})


class Types:
    """A person who types these lines, and then nothing."""

    def __init__(self, *lines: str) -> None:
        self._lines = [*lines]
        self.told: list[str] = []

    async def line(self) -> str:
        return self._lines.pop(0) if self._lines else ""

    def tell(self, text: str) -> None:
        self.told.append(text)


def decided(done: Done) -> list[tuple[str, str, Decider]]:
    return [(one.finding_id, one.answer, one.by) for one in done.of(e.SpecQuestionDecided)]


@pytest.mark.late
def test_without_a_terminal_the_recommended_options_hold_before_the_plan_and_reach_every_prompt(
    rehearse: Rehearse,
) -> None:
    told = {
        "prompt_contains": ["Which language has the text? → English", "How short is short? → 20 characters"]
    }
    done = rehearse(
        asked_run(
            COLOUR,
            LENGTH,
            **{
                "planner/plan/1": [{**plans("notes"), "expect": told}],
                "worker/notes/1": [{**writes("notes.txt", "A line.\n"), "expect": told}, completes()],
                "reviewer/notes/*": [passes(**told)],
            },
        ),
        spec=SPEC,
        verify=("true",),
    )
    assert decided(done) == [
        ("q-1", "English", Decider.RECOMMENDED),
        ("q-2", "20 characters", Decider.RECOMMENDED),
    ]
    names = [type(stored.event).__name__ for stored in done.stored]
    assert names.index("SpecQuestionDecided") < names.index("PlanAccepted")
    assert done.of(e.SpecQuestionsShown) == []
    assert len([one for one in done.of(e.CallStarted) if one.task_id == "analysis"]) == 1
    page = (done.folder / "report.html").read_text()
    assert "Questions about the spec, before the work" in page
    assert "the recommended option, taken without you before the work" in page
    assert "Which language has the text?" in done.output


TWO_LENGTHS = finding(
    4, "Which length holds?", "20 characters", "80 characters", kind="contradiction", lines=[3, 4]
)


@pytest.mark.parametrize(
    ("effort", "chosen", "by"),
    [
        ("low", ["80 characters"], Decider.DEVELOPER),
        ("low", [], Decider.RECOMMENDED),  # it answers in words that are no option
        ("max", [], Decider.RECOMMENDED),  # where the Planner's model is that of the Workers
    ],
)
@pytest.mark.late
def test_a_contradiction_of_the_spec_is_not_decided_by_the_smallest_model(
    rehearse: Rehearse, effort: str, chosen: list[str], by: Decider
) -> None:
    words = {"free_text": "" if chosen else "Both.", "reason": "The example has 80.", "reversible": True}
    answer = {"question": "Which length holds?", "labels": chosen, **words}
    told = {
        "prompt_contains": ["4 | The line is short", "80 characters", "lines 3, 4"],
        "model": "claude-sonnet-5-5",
    }
    developer = {"developer/analysis/1": [{"structured": {"answers": [answer]}, "expect": told}]}
    callers = asked_run(COLOUR, TWO_LENGTHS, **(developer if effort == "low" else {}))
    done = rehearse(callers, spec=SPEC, verify=("true",), settings={"effort": effort}, ends=None)
    asked = [
        one.end for one in done.of(e.CallEnded) if done.view.calls[one.call_id].started.role == "developer"
    ]
    assert asked == ([] if effort == "max" else [CallEnd.COMPLETED]), done.output
    told = [one.reason for _, one in done.view.decided("") if one.question == "Which length holds?"]
    assert told == ["The example has 80." if chosen else "Which length holds? Nobody says."]
    held = chosen[0] if chosen else "20 characters"
    assert sorted(decided(done)) == [("q-1", "English", Decider.RECOMMENDED), ("q-2", held, by)]


@pytest.mark.late
def test_a_person_on_the_terminal_answers_in_any_order_and_the_rest_is_decided_as_recommended(
    rehearse: Rehearse,
) -> None:
    person = Types("9 1", "2 7", "2 2", "")
    done = rehearse(asked_run(COLOUR, LENGTH), spec=SPEC, verify=("true",), person=person)
    assert decided(done) == [
        ("q-2", "80 characters", Decider.PERSON),
        ("q-1", "English", Decider.RECOMMENDED),
    ]
    assert len(person.told) == 2
    assert "decided by a person:\n" in done.output
    assert "answered from the spec" not in done.output
    page = (done.folder / "report.html").read_text()
    assert "Decided without you (1)" in page
    assert "80 characters" in page[page.index("Decided by you") :].partition("</section>")[0]
    both = json.loads(rendered(done))["decisions"]
    assert [(one["answer"]["labels"], one["answer"]["basis"]) for one in both] == [
        (["80 characters"], "person"),
        (["English"], "judgement"),
    ]
    assert len(json.loads(rendered(done))["spec_check"]["questions"]) == 2


def rendered(done: Done) -> str:
    import anyio

    from orchestrator.views.report.rendering import Format, read_run
    from orchestrator.views.report.rendering import rendered as text

    return text(anyio.run(read_run, done.folder), Format.JSON, version="1")


@pytest.mark.late
def test_a_wait_of_zero_asks_nobody_also_on_a_terminal(rehearse: Rehearse) -> None:
    done = rehearse(
        asked_run(COLOUR), spec=SPEC, verify=("true",), person=Types("1 2"), settings={"check.wait": 0}
    )
    assert decided(done) == [("q-1", "English", Decider.RECOMMENDED)]


@pytest.mark.late
@pytest.mark.parametrize(
    ("bad", "says_why"),
    [
        ({"lines": [9]}, "`lines` has to name lines of the spec, which has 4"),
        ({"lines": []}, "`lines` has to name lines of the spec, which has 4"),
        ({"lines": [2]}, "`lines` has to name a line with words"),
        ({"options": ["English"]}, "`options` has to hold 2 to 4 different options"),
        ({"options": ["English", "English"]}, "`options` has to hold 2 to 4 different options"),
        ({"recommended": "French"}, "`recommended` has to be one of `options`, word for word"),
    ],
)
def test_a_finding_that_no_person_could_answer_is_refused_in_the_same_turn(
    rehearse: Rehearse, bad: dict[str, Any], says_why: str
) -> None:
    again = questions(COLOUR, expect={"tool_results_contain": says_why})
    callers = asked_run(**{"planner/analysis/1": [questions({**COLOUR, **bad}), again]})
    done = rehearse(callers, spec=SPEC, verify=("true",))
    (checked,) = done.of(e.SpecChecked)
    assert [one.quote for one in checked.findings] == ["Create notes.txt with a line of text."]
    assert len([one for one in done.of(e.CallStarted) if one.task_id == "analysis"]) == 1


@pytest.mark.late
def test_a_report_without_the_list_of_faults_is_refused_and_counts_at_last_without_its_bad_ones(
    rehearse: Rehearse,
) -> None:
    missing = signals("report_analysis", project_type="notes")
    bad = questions({**COLOUR, "lines": [9]}, LENGTH)
    done = rehearse(
        asked_run(**{"planner/analysis/1": [missing, bad, bad, bad]}), spec=SPEC, verify=("true",)
    )
    (checked,) = done.of(e.SpecChecked)
    assert [(one.id, one.kind) for one in checked.findings] == [("q-1", FaultKind.UNPROVABLE)]


@pytest.mark.late
@pytest.mark.parametrize("asked_again", [True, False])
def test_answers_beside_the_spec_reach_every_agent_the_stale_one_is_said_and_the_spec_stays_as_it_is(
    rehearse: Rehearse, tmp_path: Path, asked_again: bool
) -> None:
    given = (
        SpecAnswer(
            kind=FaultKind.TWO_MEANINGS, quote="Create notes.txt  with a line of text.", question="Language?", answer="Welsh"
        ),
        SpecAnswer(kind=FaultKind.EDGE_CASE, quote="A line that is gone.", question="And then?", answer="no"),
    )  # fmt: skip
    write_answers(tmp_path / "spec.md", given)
    told = {"prompt_contains": ["Language? → Welsh"], "prompt_lacks": ["And then?"]}
    line = {
        **told,
        "prompt_contains": ["Create notes.txt  with a line of text. | Language? → Welsh", "Do not ask again"],
    }
    decided_by = {**told, "prompt_contains": ["Language? → Welsh (decided by a person before the work)"]}
    raised = (COLOUR,) if asked_again else ()
    done = rehearse(
        asked_run(
            **{
                "planner/analysis/1": [questions(*raised, expect=line)],
                "planner/plan/1": [{**plans("notes"), "expect": decided_by}],
                "worker/notes/1": [{**writes("notes.txt", "A line.\n"), "expect": decided_by}, completes()],
                "reviewer/notes/*": [passes(**decided_by)],
            }
        ),
        spec=SPEC,
        verify=("true",),
    )  # fmt: skip
    assert decided(done) == []
    assert "belong to another version of the spec" in done.output
    assert "And then?" in done.output
    assert (tmp_path / "spec.md").read_text() == SPEC
    [mine] = json.loads(rendered(done))["decisions"]
    assert (mine["answer"]["free_text"], mine["answer"]["basis"]) == ("Welsh", "person")
    assert done.view.spec_words == f"{SPEC}\nWelsh"


@pytest.mark.late
def test_an_answer_is_a_line_of_the_spec_that_announces_a_changed_test(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    answer = "The test test_colour expects blue from now on."
    asked = {"kind": FaultKind.TWO_MEANINGS, "question": "Which colour?", "answer": answer}
    write_answers(tmp_path / "spec.md", [SpecAnswer(quote="Create notes.txt  with a line of text.", **asked)])
    plan = plans("notes")
    plan["tools"][0]["input"]["tests_that_change"] = [{"test": "test_colour", "line": answer}]
    done = rehearse(asked_run(**{"planner/plan/1": [plan]}), spec=SPEC, verify=("true",))
    assert done.of(e.PlanRejected) == []


@pytest.mark.late
def test_an_answer_settles_its_question_in_other_words_and_no_other_question_of_its_line(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    line = "Create notes.txt with a line of text."
    write_answers(
        tmp_path / "spec.md",
        [
            SpecAnswer(kind=FaultKind.TWO_MEANINGS, quote=line, question="Which language?", answer="Welsh"),
            SpecAnswer(
                kind=FaultKind.EDGE_CASE, quote=line, question="What if notes.txt is there?", answer="Stop"
            ),
        ],
    )
    where = finding(3, "In which folder is it?", "the root", "docs")
    there = finding(
        3, "What is done if notes.txt is already there?", "replace it", "stop", kind="unstated assumption"
    )
    done = rehearse(asked_run(where, COLOUR, there), spec=SPEC, verify=("true",), person=Types("2"))
    assert decided(done) == [("q-1", "docs", Decider.PERSON)]
    held = {one.finding.id: one.given.answer for one in done.view.plan.before.check.held}
    assert held == {"q-1": "docs", "q-2": "Welsh", "q-3": "Stop"}


@pytest.mark.late
def test_a_question_is_quoted_by_its_lines_with_words_and_settled_only_while_the_spec_has_all_of_them(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    where = tmp_path / "spec.md"
    pair = {**COLOUR, "lines": [1, 2, 3, 5]}
    spec = f"#\n\n{SPEC}"
    done = rehearse(asked_run(pair), spec=spec, verify=("true",))
    [one] = done.of(e.SpecChecked)[0].findings
    assert one.quote == "# Notes\nCreate notes.txt with a line of text."
    assert "the spec: # Notes / Create notes.txt with a line of text." in done.output
    write_answers(where, [one.answered("Welsh", Decider.PERSON)])
    again = rehearse(asked_run(pair), spec=spec, verify=("true",), ends=Outcome.FAILED)
    assert decided(again) == []
    [held] = again.view.plan.before.check.held
    assert held.given.answer == "Welsh"
    apart = found_in(answers_file(where), all_answers(where), spec.replace("# Notes", "# Words"))
    assert (apart.answers, len(apart.stale)) == ((), 1)


@pytest.mark.parametrize(
    ("was", "now", "says"),
    [
        ("[[answer]]", "[[answers]]", "`answers` in line 5 is no key here"),
        (
            'kind = "two meanings"',
            'kind = "two"',
            "`kind` in line 6 is 'two', and not one of contradiction, two meanings",
        ),
        (
            'by = "person"',
            'by = "ann"',
            "`by` in line 10 is 'ann', and not one of person, developer, recommended",
        ),
        ('answer = "Welsh"', 'anser = "Welsh"', "`answer` has to be a text in the block at line 5"),
        ('by = "person"', 'who = "me"', "`who` in line 10 is no key of an answer"),
    ],
)
def test_a_bad_edit_of_the_answers_is_named_by_its_line(
    rehearse: Rehearse, tmp_path: Path, was: str, now: str, says: str
) -> None:
    given = SpecAnswer(
        kind=FaultKind.TWO_MEANINGS, quote="Create notes.txt", question="Language?", answer="Welsh"
    )
    file = write_answers(tmp_path / "spec.md", [given])
    assert file.read_text().count(was) == 1
    file.write_text(file.read_text().replace(was, now))
    with pytest.raises(UsageError) as raised:
        rehearse(asked_run(), spec=SPEC)
    assert says in str(raised.value)


def test_an_answers_file_that_cannot_be_used_is_a_usage_error_that_names_it(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    answers_file(tmp_path / "spec.md").write_text('[[answer]]\nkind = "two meanings"\n')
    with pytest.raises(UsageError, match=r"spec\.md\.answers\.toml: `quote` has to be a text"):
        rehearse(asked_run(), spec=SPEC)


@pytest.mark.late
@pytest.mark.parametrize(
    "kind", [e.SpecChecked, e.RepositoryAnalyzed, e.SpecQuestionsShown, e.SpecQuestionDecided, e.PlanAccepted]
)
def test_a_run_that_is_killed_at_an_event_before_its_work_asks_and_decides_nothing_twice(
    rehearse: Rehearse, resume: Callable[..., Done], repository: Path, kind: type, tmp_path: Path
) -> None:
    callers = asked_run(COLOUR, LENGTH)
    with pytest.raises(JournalError):
        rehearse(
            callers, spec=SPEC, verify=("true",), person=Types("1 2", ""), open_journal=stopping_after(kind)
        )
    left = Done(Outcome.FAILED, newest(repository), [], "")
    done = resume(left)
    assert sorted(one[0] for one in decided(done)) == ["q-1", "q-2"]
    assert (
        len(done.of(e.SpecChecked)) == len(done.of(e.RepositoryAnalyzed)) == len(done.of(e.PlanAccepted)) == 1
    )
    assert len(done.of(e.SpecQuestionsShown)) <= 1
    assert [line.caller for line in done.ledger].count("planner/analysis/1") == 1


TWO = {
    "planner/plan/1": [
        plans(
            "notes",
            "more",
            criteria=[
                criterion("a line is there", "notes", "more", quote="a line of text"),
                criterion(
                    "the line is short", "more", kind="constraint", constraint="untouched", names=["a"]
                ),
            ],
            more=["notes"],
        )
    ],
    **worker("more", 1, writes("more.txt", "More.\n"), completes()),
    "reviewer/more/*": [passes()],
}


@pytest.mark.late
def test_an_unedited_plan_gives_the_same_run_and_asks_no_planner_for_another(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    first = rehearse(
        asked_run(COLOUR, **TWO),
        spec=SPEC,
        verify=("true",),
        plan_review=True,
        settings={"merge": False},
        ends=None,
    )
    plan = tmp_path / "plan.toml"
    plan.write_text(plan_of(first.view, "plan.toml"))
    callers = {
        **asked_run(COLOUR, **TWO),
        "planner/plan/1": [signals("task_stuck", reason="must not be asked")],
    }
    second = rehearse(callers, spec=SPEC, verify=("true",), before=BeforeWork(plan=plan), ends=None)
    assert second.of(e.PlanAccepted) == first.of(e.PlanAccepted)
    assert [one.task_id for one in second.of(e.CallStarted) if one.task_id == "plan"] == []
    assert [one.text for _, one in second.view.decided()] == [one.text for _, one in first.view.decided()]
    assert second.outcome is first.outcome is Outcome.COMPLETE, second.output


def test_a_plan_that_cannot_be_built_ends_before_the_run_begins(
    rehearse: Rehearse, repository: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('[[task]]\nname = "a"\ntitle = "A"\nafter = ["b"]\n')
    with pytest.raises(UsageError, match=r"line 4: task a depends on 'b'"):
        rehearse(asked_run(), spec=SPEC, before=BeforeWork(plan=plan))
    assert not (repository / ".sq" / "runs").exists()


def test_plan_only_ends_with_the_plan_in_a_file_and_never_writes_over_an_edit(
    rehearse: Rehearse, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    done = rehearse(asked_run(**TWO), spec=SPEC, verify=("true",), before=BeforeWork(plan_to=plan))
    assert done.of(e.TaskStarted) == []
    assert f"plan: {plan}" in done.output
    assert "# line 3 of the spec: Create notes.txt" in plan.read_text()
    assert "# forecast: half of such runs" in plan.read_text()
    refuse_edited(plan)
    plan.write_text(plan.read_text().replace("Task more", "More notes"))
    with pytest.raises(UsageError, match="was edited since"):
        refuse_edited(plan)
    edited = plan.read_text()
    again = rehearse(asked_run(**TWO), spec=SPEC, verify=("true",), before=BeforeWork(plan_to=plan))
    assert plan.read_text() == edited
    assert (tmp_path / f"plan-{again.folder.name}.toml").is_file()
    assert "stays as it is" in again.output


def approving(by_whom: Callable[[Path], None]) -> Callable[..., Journal]:
    class Approves(Journal):
        def __init__(self, run_folder: Path, **rest: Any) -> None:
            super().__init__(run_folder, **rest)
            self._folder = run_folder

        def append(self, *events: Any) -> list[Any]:
            stored = super().append(*events)
            if any(isinstance(one, e.ApprovalAwaited) for one in events):
                by_whom(self._folder)
            return stored

    return Approves


@pytest.mark.late
def test_with_approve_nothing_is_built_before_a_person_says_so(rehearse: Rehearse) -> None:
    done = rehearse(
        whole_run(), verify=("true",), before=BeforeWork(approve=True), open_journal=approving(approve)
    )
    names = [type(stored.event).__name__ for stored in done.stored]
    assert names.index("PlanAccepted") < names.index("PlanApproved") < names.index("TaskStarted")
    assert "the plan was approved by" in done.output
    waits, given = (
        stored.at for stored in done.stored if isinstance(stored.event, e.ApprovalAwaited | e.PlanApproved)
    )
    first, last = done.stored[0].at, done.stored[-1].at
    assert done.view.clock.worked_s == pytest.approx((last - first - (given - waits)).total_seconds())


@pytest.mark.late
def test_a_plan_that_nobody_approves_in_time_ends_with_code_3_and_goes_on_once_it_is_approved(
    rehearse: Rehearse, resume: Callable[..., Done]
) -> None:
    done = rehearse(
        whole_run(),
        verify=("true",),
        before=BeforeWork(approve=True),
        settings={"approve.wait": 0.1},
        ends=None,
    )
    assert (done.outcome, done.of(e.TaskStarted)) == (Outcome.STUCK, [])
    assert f"sq approve {done.folder.name}" in done.output
    approve(done.folder)
    again = resume(done)
    assert len(again.of(e.PlanAccepted)) == len(again.of(e.PlanApproved)) == 1


@pytest.mark.late
def test_the_wait_for_approval_does_not_use_up_the_time_of_the_run_also_after_a_kill(
    rehearse: Rehearse, resume: Callable[..., Done], repository: Path
) -> None:
    with pytest.raises(JournalError):
        rehearse(
            whole_run(),
            verify=("true",),
            before=BeforeWork(approve=True),
            settings={"limits.run_s": 6},
            open_journal=stopping_after(e.ApprovalAwaited),
        )
    folder = newest(repository)
    later = threading.Timer(7, approve, [folder])
    later.start()
    done = resume(Done(Outcome.FAILED, folder, [], ""))
    later.join()
    waits, given = (
        stored.at for stored in done.stored if isinstance(stored.event, e.ApprovalAwaited | e.PlanApproved)
    )
    assert (given - waits).total_seconds() > 6


@pytest.mark.late
def test_a_deadline_ends_the_wait_for_approval(rehearse: Rehearse, resume: Callable[..., Done]) -> None:
    at = (datetime.now(UTC) + timedelta(seconds=5)).isoformat()
    done = rehearse(
        whole_run(), verify=("true",), before=BeforeWork(approve=True), settings={"deadline": at}, ends=None
    )
    assert (done.outcome, done.of(e.TaskStarted)) == (Outcome.LIMIT, []), done.output
    assert done.of(e.ApprovalAwaited)[0].until == datetime.fromisoformat(at)
    approve(done.folder)
    assert resume(done, deadline="none").outcome is Outcome.COMPLETE


@pytest.mark.parametrize("kind", [e.ApprovalAwaited, e.PlanApproved])
@pytest.mark.late
def test_a_run_that_is_killed_while_it_waits_for_approval_is_approved_once(
    rehearse: Rehearse, resume: Callable[..., Done], repository: Path, kind: type
) -> None:
    base = approving(approve)

    class Both(base, stopping_after(kind)):  # type: ignore[misc, valid-type]
        pass

    with pytest.raises(JournalError):
        rehearse(whole_run(), verify=("true",), before=BeforeWork(approve=True), open_journal=Both)
    approve(newest(repository))
    done = resume(Done(Outcome.FAILED, newest(repository), [], ""))
    assert len(done.of(e.PlanApproved)) == len(done.of(e.ApprovalAwaited)) == 1


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path / "other project"
    folder.mkdir()
    (folder / "api.py").write_text("LIMIT = 7\n")
    return folder


@pytest.mark.late
def test_agents_are_told_of_folders_that_they_may_read_also_after_a_resumption(
    rehearse: Rehearse, resume: Callable[..., Done], repository: Path, other: Path
) -> None:
    callers = whole_run(
        **worker(
            "notes",
            1,
            says(call("Read", file_path=f"{other}/api.py")),
            says(call("Write", file_path=f"{other}/api.py", content="no"), expect={"tool_results_contain": "LIMIT = 7"}),
            writes("notes.txt", "A line.\n", expect={"tool_results_contain": "outside your workspace"}),
            completes(),
        )
    )  # fmt: skip
    with pytest.raises(JournalError):
        rehearse(
            callers,
            verify=("true",),
            settings={"context": (str(other),)},
            open_journal=stopping_after(e.PlanAccepted),
        )
    done = resume(Done(Outcome.FAILED, newest(repository), [], ""))
    assert all(str(other) in one.system for one in done.of(e.CallStarted) if one.system)
    assert (other / "api.py").read_text() == "LIMIT = 7\n"
    assert str(other) in (done.folder / "report.html").read_text() or "other project" in done.output


@pytest.mark.parametrize(
    ("given", "says_why"),
    [
        ("nowhere", "there is no such folder"),
        ("{repository}", "inside the repository"),
        ("{repository}/..", "holds the repository itself"),
        ("{home}", "your home folder"),
        ("/", "the repository itself|your home folder"),
    ],
)
def test_a_folder_that_agents_may_not_read_is_refused(
    rehearse: Rehearse, repository: Path, home: Path, given: str, says_why: str
) -> None:
    folder = given.format(repository=repository, home=home)
    with pytest.raises(UsageError, match=says_why):
        rehearse(whole_run(), settings={"context": (folder,)})


@pytest.mark.late
def test_a_forecast_rests_on_earlier_runs_and_is_held_against_the_end(rehearse: Rehearse) -> None:
    first = rehearse(whole_run(), verify=("true",), usage={"input_tokens": 9_000, "output_tokens": 900})
    assert "limits of effort medium, and no experience" in first.of(e.ForecastMade)[0].forecast.basis
    second = rehearse(
        whole_run(),
        verify=("true",),
        usage={"input_tokens": 9_000, "output_tokens": 900},
        ends=Outcome.FAILED,
    )
    before, planned = (one.forecast for one in second.of(e.ForecastMade))
    assert (before.runs, before.tasks, planned.runs, planned.tasks) == (1, 0, 1, 1)
    assert planned.usd_p50 == pytest.approx(first.view.cost_usd)
    assert planned.usd_p50 < planned.usd_p90 < 3 * planned.usd_p50
    assert "in the end: the run cost" in second.output
    said = json.loads((second.folder / "summary.json").read_text())
    assert said["forecast"]["runs"] == 1
    past = json.loads((first.folder / "summary.json").read_text())["past"]
    assert (past["turns"], past["usd"]) == (1, pytest.approx(first.view.cost_usd))
