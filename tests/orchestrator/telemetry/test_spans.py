"""A run's events as spans: one tree with the same ids each time, and no words of prompts or agents."""

import dataclasses
import json
import re
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from language.beginnings import run_started
from language.event_strategies import legal_runs, stored, task

from orchestrator.telemetry import conventions as c
from orchestrator.telemetry.spans import SpanFold, spans_in
from state.ids import conversation_key, span_id, trace_id, traceparent
from state.journal import events as e
from state.journal.events import Stored
from state.outcome import Outcome
from state.records.calls import CallEnd, Usage
from state.records.commands import CommandRun
from state.roles import Role
from state.verdicts import Verdict

RUN = "r-1"
SECRETLY = "words that no span may have"


def call(call_id, role=Role.WORKER, task_id="t1", attempt=1, **more):
    return e.CallStarted(
        call_id=call_id, role=role, task_id=task_id, attempt=attempt, iteration=1, session_id=f"s-{call_id}",
        model="haiku", prompt=SECRETLY, system=SECRETLY, **more,
    )  # fmt: skip


def ended(call_id, **more):
    return e.CallEnded(call_id=call_id, end=CallEnd.SIGNALLED, detail=SECRETLY, cost_usd=0.5, **more)


BEGUN = (
    run_started(RUN),
    e.PlanAccepted(tasks=(task("t1"),), criteria=()),
    e.TaskStarted(task_id="t1", branch="b", worktree="/w", base_commit="c0"),
    e.AttemptStarted(task_id="t1", attempt=1, session_id="s-1", tree="t"),
)
DONE = e.RunEnded(outcome=Outcome.COMPLETE, cause="")


def by_name(spans):
    return {span.name: span for span in spans}


def parents(spans):
    names = {span.span_id: span.name for span in spans}
    return {span.name: names.get(span.parent_id, "") for span in spans}


def one_run():
    ran = CommandRun(command="make test", exit_code=1, seconds=2.0, output_tail=SECRETLY)
    place = {"task_id": "t1", "commit": "c1", "onto": "c0"}
    return stored(
        (
            *BEGUN,
            call("c1"),
            ended("c1", usage=Usage(input_tokens=3, output_tokens=4)),
            e.VerificationFinished(task_id="t1", tree="t", runs=(ran,)),
            e.GateDecided(
                task_id="t1",
                attempt=1,
                iteration=1,
                gate="diff",
                verdict=Verdict.ALLOW,
                reason=SECRETLY,
                tree="t",
            ),
            e.CompletionAccepted(task_id="t1", attempt=1, tree="t"),
            call("c2", Role.REVIEWER),
            ended("c2"),
            e.ReviewRecorded(task_id="t1", attempt=1, commit="c1", passed=True, issues=()),
            e.MergeStarted(**place),
            e.MergeConflicted(**place, paths=("a",)),
            e.TaskMerged(task_id="t1", commit="c2", tree="t", onto="c0"),
            DONE,
        )
    )


def test_a_run_is_a_tree_of_task_attempt_call_command_review_and_merge():
    spans = spans_in(RUN, one_run())
    assert parents(spans) == {
        "invoke_workflow sq": "",
        "task": "invoke_workflow sq",
        "invoke_agent worker": "task",
        "exchange worker": "invoke_agent worker",
        "verification": "invoke_agent worker",
        "invoke_agent reviewer": "task",
        "exchange reviewer": "invoke_agent reviewer",
        "merge": "task",
    }
    found = by_name(spans)
    run, worker = found["invoke_workflow sq"], found["invoke_agent worker"]
    assert run.attributes["gen_ai.agent.name"] == "sq"
    assert worker.attributes["gen_ai.agent.name"] == "worker"
    assert (run.attributes[c.OUTCOME], run.attributes[c.EXIT_CODE], run.attributes[c.COST]) == (
        "complete",
        0,
        1.0,
    )
    assert (run.attributes[c.TASKS], run.attributes[c.MERGED]) == (1, 1)
    assert [(one.name, one.attributes[c.GATE], one.attributes[c.VERDICT]) for one in worker.moments] == [
        ("gate", "diff", "allow")
    ]
    exchange = found["exchange worker"].attributes
    assert (exchange[c.INPUT_TOKENS], exchange[c.OUTPUT_TOKENS], exchange[c.COST]) == (3, 4, 0.5)
    command = found["verification"]
    assert (command.attributes[c.COMMAND_EXIT_CODE], command.error) == (1, "failed")
    assert command.ended - command.began == timedelta(seconds=2)
    assert found["invoke_agent reviewer"].attributes[c.PASSED] is True
    assert found["merge"].moments[0].attributes == {c.CONFLICTS: 1}
    assert SECRETLY not in json.dumps([dataclasses.asdict(span) for span in spans], default=str)


def test_a_command_that_only_the_analysis_named_is_not_shown_and_others_are():
    def verified(command):
        return e.VerificationFinished(
            task_id="", tree="t", runs=(CommandRun(command=command, exit_code=0, seconds=1, output_tail=""),)
        )

    from state.records.commands import BaselineCheck, BaselineOutcome

    def taken(command, *, of_analysis):
        run = CommandRun(command=command, exit_code=0, seconds=1, output_tail="")
        check = BaselineCheck(run=run, source="Makefile", outcome=BaselineOutcome.PASSES)
        return e.BaselineTaken(tree="t", environment="", checks=(check,), of_analysis=of_analysis)

    spans = spans_in(
        RUN,
        stored(
            (
                run_started(RUN),
                taken("make test", of_analysis=False),
                taken("by the agent", of_analysis=True),
                verified("make test"),
                verified("by the agent"),
            )
        ),
    )
    assert [(span.name, span.attributes.get(c.COMMAND)) for span in spans] == [
        ("baseline", "make test"),
        ("baseline", None),
        ("verification", "make test"),
        ("verification", None),
    ]


def test_a_call_that_was_killed_and_goes_on_is_two_spans_with_a_link():
    resumed = e.CallResumed(call_id="c1", session_id="s-2", prompt=SECRETLY)
    events = stored((*BEGUN, call("c1"), e.RunResumed(), resumed, ended("c1"), DONE))
    killed, again = [span for span in spans_in(RUN, events) if span.name == "exchange worker"]
    assert (killed.error, killed.links) == ("process ended", ())
    assert killed.ended <= events[4].at
    assert again.links == (killed.span_id,)
    assert again.span_id != killed.span_id
    assert again.parent_id == killed.parent_id == span_id(RUN, *conversation_key("worker", "t1", 1))
    assert again.attributes[c.CALL_ID] == killed.attributes[c.CALL_ID] == "c1"


def test_a_try_in_the_same_process_is_a_moment_of_the_same_span():
    retried = e.CallRetried(call_id="c1", end=CallEnd.API_ERROR, detail=SECRETLY, wait_s=2.0, cost_usd=0.25)
    resumed = e.CallResumed(call_id="c1", session_id="s-1", prompt=SECRETLY)
    spans = spans_in(RUN, stored((*BEGUN, call("c1"), retried, resumed, ended("c1"), DONE)))
    (exchange,) = [span for span in spans if span.name == "exchange worker"]
    assert [moment.name for moment in exchange.moments] == ["retry", "again"]
    assert by_name(spans)["invoke_workflow sq"].attributes[c.COST] == 0.75


def test_a_call_that_an_interruption_cut_has_a_link_from_the_one_that_goes_on():
    cut = e.CallInterrupted(call_id="c1", cost_usd=0.1)
    resumed = e.CallResumed(call_id="c1", session_id="s-1", prompt=SECRETLY)
    events = (
        *BEGUN,
        call("c1"),
        cut,
        e.RunInterrupted(by="SIGTERM"),
        e.RunResumed(),
        resumed,
        ended("c1"),
        DONE,
    )
    first, second = [span for span in spans_in(RUN, stored(events)) if span.name == "exchange worker"]
    assert (first.error, second.links) == ("interrupted", (first.span_id,))


def test_a_run_that_has_ended_and_goes_on_is_a_second_span_with_a_link_in_the_same_trace():
    limit = e.RunEnded(outcome=Outcome.LIMIT, cause=SECRETLY, resumable=True)
    spans = spans_in(RUN, stored((*BEGUN, limit, e.RunResumed(), DONE)))
    first, second = [span for span in spans if span.name == "invoke_workflow sq"]
    assert (first.error, second.error, second.links) == ("limit", "", (first.span_id,))
    assert {span.trace_id for span in spans} == {trace_id(RUN)}


def test_the_span_that_sessions_name_as_their_parent_is_that_of_the_conversation():
    spans = spans_in(RUN, one_run())
    worker = by_name(spans)["invoke_agent worker"]
    assert (
        traceparent(RUN, conversation_key("worker", "t1", 1)) == f"00-{worker.trace_id}-{worker.span_id}-01"
    )
    reviewer = by_name(spans)["invoke_agent reviewer"]
    assert reviewer.span_id == span_id(RUN, *conversation_key("reviewer", "t1", 1))
    final = spans_in(RUN, stored((*BEGUN, call("c9", Role.REVIEWER, ""), ended("c9"), DONE)))
    assert by_name(final)["invoke_agent reviewer"].span_id == span_id(
        RUN, *conversation_key("reviewer", "final", 1)
    )


@given(events=legal_runs(), cut=st.integers(0, 400))
def test_any_run_has_one_tree_of_unique_spans_that_a_cut_does_not_change(events, cut):
    fold = SpanFold(RUN)
    spans = [span for one in events[:cut] for span in fold.apply(one)]
    spans += [span for one in events[cut:] for span in fold.apply(one)]
    assert spans == spans_in(RUN, events)
    every = [*spans, *fold.rest()]
    ids = [span.span_id for span in every]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in ids)
    assert {span.trace_id for span in every} <= {trace_id(RUN)}
    known = set(ids)
    assert all(span.parent_id in known for span in every if span.name != "invoke_workflow sq")
    assert all(link in known for span in every for link in span.links)
    assert all(span.began <= span.ended for span in every)


def test_events_of_an_unknown_order_are_no_error():
    at = datetime(2026, 1, 31, tzinfo=UTC)
    assert spans_in(RUN, [Stored(1, at, ended("c1")), Stored(2, at, DONE)]) == []
