"""A run in which agents, commands and files say hostile things wherever they may choose their words."""

from dataclasses import fields, is_dataclass, replace
from datetime import timedelta
from itertools import cycle

from language.large_runs import twelve_tasks
from language.tables import table
from orchestrator.checks import objecting
from state.journal import events as e
from state.journal.events import Stored
from state.records.commands import CanaryResult
from state.records.plan import Criterion
from state.records.reviews import (
    CriterionVerdict,
    Evidence,
    EvidenceKind,
    JudgedBy,
    Mark,
    TestChange,
    TestChangeKind,
)
from state.records.work import ChangeKind, FileChange

# sq gives these itself, or checks their form before it stores them.
_SQS_OWN = table(__file__, "sqs_own")


def with_more(events):
    """The events of a run, with verdicts on criteria, sizes of the work, and everything that needs a look."""
    criteria = tuple(Criterion(id=f"c-{n}", text="it works", task_ids=("counter",), spec_lines=(n, n), quote="q")
                     for n in range(1, 5))  # fmt: skip
    found = []
    for one in events:
        event = one.event
        if isinstance(event, e.PlanAccepted | e.PlanProposed):
            event = replace(event, criteria=criteria)
        if isinstance(event, e.RunEnded):
            found += _before_the_end(found)
        found.append(event)
    began = events[0].at
    return [Stored(seq, began + timedelta(seconds=seq), event) for seq, event in enumerate(found, start=1)]


def _before_the_end(said):
    merged = [event for event in said if isinstance(event, e.TaskMerged)]
    commit, tree = merged[-1].commit, merged[-1].tree
    pieces = tuple(
        Evidence(
            kind=kind,
            ref="tests/test_a.py::test_b",
            holds=holds,
            why="it passed",
            mark=Mark.TESTED if kind is EvidenceKind.TEST else None,
        )
        for kind, holds in zip(EvidenceKind, (True, None, True, True), strict=True)
    )
    change = FileChange(path="shop/a.py", added=3, removed=1, kind=ChangeKind.MODIFIED)
    return [
        *(
            e.CriterionJudged(
                criterion_id=f"c-{number}",
                verdict=verdict,
                by=JudgedBy.REVIEWER,
                commit=commit,
                tree=tree,
                claim="it is so",
                evidence=pieces if number < 3 else (),
            )
            for number, verdict in enumerate([*CriterionVerdict, CriterionVerdict.MET], start=1)
        ),
        e.WorkMeasured(task_id="", base="0" * 40, commit=commit, files=(change,), added=3, removed=1),
        e.WorkMeasured(
            task_id="counter", base="0" * 40, commit=commit, files=(change,), added=3, removed=1, left_out=2
        ),
        e.ProofsTaken(
            task_id="",
            tree=tree,
            objections=(
                objecting.unproven("test_x"),
                objecting.unknown(objecting.BASE_TESTS, "make", "the old tests"),
                objecting.only_here("make test"),
                *objecting.changed([TestChange(test="test_y", kind=TestChangeKind.GONE)]),
                objecting.canary(CanaryResult(command="make", path="tests/x.py", caught=False), counts=False),
            ),
        ),
        e.GitFolderChanged(paths=("config",)),
        e.UsersWorkRestored(
            tree=tree, paths=("notes.txt",), overwritten=("notes.txt",), heads=("sub",), ref="r"
        ),
        e.UsersWorkRestored(tree=tree, problem="the disk is full"),
        e.WorkRescued(task_id="mail", ref="refs/sq/x", commit=commit),
    ]


def saying(events, texts):
    """The events with each text that is not sq's own replaced by the next one, which begins with a letter."""
    spoken = cycle(texts)
    found = [Stored(one.seq, one.at, _said(one.event, spoken)) for one in events]
    spec = "\n".join("".join(f"w {next(spoken)}".splitlines()) for _ in range(8))
    begun = replace(found[0].event, spec_text=spec)  # a text of more lines would be a longer list
    return [Stored(found[0].seq, found[0].at, begun), *found[1:]]


def words_in(events):
    """How many texts `saying` replaces."""
    counted = []

    def counting():
        while True:
            counted.append(None)
            yield "word"

    spoken = counting()
    for one in events:
        _said(one.event, spoken)
    return len(counted)


def _said(value, spoken):
    if type(value) is str:
        return f"w {next(spoken)}" if value else value
    if isinstance(value, tuple):
        return tuple(_said(one, spoken) for one in value)
    if is_dataclass(value) and not type(value).__name__.startswith(("Settings", "Effort", "Model", "Limits")):
        return replace(
            value,
            **{
                one.name: _said(getattr(value, one.name), spoken)
                for one in fields(value)
                if one.name not in _SQS_OWN and one.init
            },
        )
    return value


def hostile_run():
    """The events that `saying` is for: a run that ended, with every kind of thing that a report shows."""
    return with_more(twelve_tasks(ended=True))
