"""The model's words for whole runs, and what a run leaves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.gateway.ledger import LedgerLine, read_ledger
from agents.roles.reviewer import normalize_issue
from orchestrator.cli.runs.connected import LEDGER
from orchestrator.run.review.findings import fingerprint
from state.journal.events import Stored
from state.journal.fold.fold import fold
from state.journal.view import RunView
from state.outcome import Outcome

SPEC = "# Notes\n\nCreate notes.txt with a line of text.\n"


@dataclass(frozen=True)
class Done:
    """A run that is over, and everything it left."""

    outcome: Outcome
    folder: Path
    stored: list[Stored]
    output: str

    @property
    def view(self) -> RunView:
        return fold(self.stored)

    @property
    def ledger(self) -> list[LedgerLine]:
        return read_ledger(self.folder / LEDGER)

    def of(self, kind: type) -> list[Any]:
        """The events of a kind, in order."""
        return [stored.event for stored in self.stored if isinstance(stored.event, kind)]


SATISFIED = {"structured": {"verdict": "satisfied", "reason": "The session shows it.", "quote": ""}}
Rehearse = Callable[..., Done]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A tool call of a reply."""
    return {"name": name, "input": arguments}


def says(*tools: dict[str, Any], then: str | None = None, **reply: Any) -> dict[str, Any]:
    """A reply with tool calls."""
    return {"tools": list(tools), **({"then": then} if then else {}), **reply}


def writes(name: str, content: str, **reply: Any) -> dict[str, Any]:
    """A reply that writes a file into the workspace."""
    return says(call("Write", file_path=f"{{workspace}}/{name}", content=content), **reply)


def signals(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply that reports through a typed tool, which ends its turn."""
    expect = arguments.pop("expect", None)
    reply = says(call(f"mcp__sq__{name}", **arguments))
    return {**reply, **({"expect": expect} if expect else {})}


def completes(**expect: Any) -> dict[str, Any]:
    """A reply that claims completion."""
    return signals(
        "task_complete", summary="Done.", tests="All tests pass.", **({"expect": expect} if expect else {})
    )


def criterion(
    text: str, *task_ids: str, quote: str = "", kind: str = "behaviour", **more: Any
) -> dict[str, Any]:
    """A requirement of the spec in a plan."""
    return {"text": text, "quote": quote, "kind": kind, "task_ids": list(task_ids), **more}


def met(id_: str, *evidence: tuple[str, str], reason: str = "I read it.") -> dict[str, Any]:
    """A reviewer's verdict that a criterion is met, with evidence as pairs of kind and reference."""
    named = [{"kind": kind, "ref": ref} for kind, ref in evidence]
    return {"id": id_, "verdict": "met", "reason": reason, "evidence": named}


def judges(*verdicts: Mapping[str, Any], **report: Any) -> dict[str, Any]:
    """A reply that passes a review, with verdicts on criteria."""
    return signals("report_review", **{"passed": True, "issues": [], "criteria": list(verdicts), **report})


def plans(
    *ids: str, criteria: Sequence[Mapping[str, Any]] | None = None, **dependencies: list[str]
) -> dict[str, Any]:
    """A reply that submits a plan with these tasks. `criteria`: in place of one for each task."""
    tasks = [
        {
            "id": id_,
            "title": f"Task {id_}",
            "description": f"Do {id_}.",
            "acceptance_criteria": [f"{id_} is done"],
            "dependencies": dependencies.get(id_, []),
            "estimated_iterations": 1,
        }
        for id_ in ids
    ]
    usual = [criterion(f"{id_} is there", id_) for id_ in ids]
    return signals("submit_plan", tasks=tasks, criteria=usual if criteria is None else list(criteria))


def passes(**expect: Any) -> dict[str, Any]:
    """A reply that passes a review."""
    return signals(
        "report_review", passed=True, issues=[], suggestions=[], **({"expect": expect} if expect else {})
    )


def worker(task: str, attempt: int, *replies: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The caller of a Worker's attempt at a task: `**worker("notes", 1, writes(…), completes())`."""
    return {f"worker/{task}/{attempt}": [*replies]}


def reviewer(task: str, attempt: int, *replies: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The caller of a review of an attempt."""
    return {f"reviewer/{task}/{attempt}": [*replies]}


def id_of(found: Mapping[str, Any]) -> str:
    """The id by which a finding is named in prompts."""
    return fingerprint(normalize_issue(found))


def _ruled(state: str, found: Sequence[Mapping[str, Any]], why: str = "") -> list[dict[str, str]]:
    return [{"id": id_of(one), "state": state, "why": why} for one in found]


def finds(*issues: Mapping[str, Any], fixed: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """A reply that fails a review; the earlier findings `fixed` are gone."""
    return signals(
        "report_review", passed=False, issues=list(issues), suggestions=[], earlier=_ruled("fixed", fixed)
    )


def rules(
    state: str, *found: Mapping[str, Any], why: str = "", expect: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A reply of a reviewer that finds nothing new and says how these findings stand."""
    told = signals("report_review", passed=True, issues=[], earlier=_ruled(state, found, why))
    return {**told, **({"expect": expect} if expect else {})}


def issue(
    file: str, line: int, description: str, suggestion: str, task: str = "", kind: str = "dead-code"
) -> dict[str, Any]:
    """A finding."""
    return {
        "taskId": task, "file": file, "line": line, "type": kind, "description": description, "suggestion": suggestion,
    }  # fmt: skip


def question(text: str, *labels: str, several: bool = False) -> dict[str, Any]:
    """A question of an AskUserQuestion call."""
    options = [{"label": label, "description": f"take {label}"} for label in labels]
    return {"question": text, "header": "Choice", "options": options, "multiSelect": several}


def asks(*questions: Mapping[str, Any], **reply: Any) -> dict[str, Any]:
    """A reply that asks in one call."""
    return {**says(call("AskUserQuestion", questions=list(questions))), **reply}


def answer(text: str, *labels: str, words: str = "", **more: Any) -> dict[str, Any]:
    """What the Developer says to one question."""
    given = {"question": text, "labels": list(labels), "free_text": words, "reason": "The spec says so."}
    return {**given, "reversible": True, **more}


def answers(*given: Mapping[str, Any], **reply: Any) -> dict[str, Any]:
    """A reply of the Developer."""
    return {"structured": {"answers": list(given)}, **reply}


COLOUR = question("Which colour?", "red", "blue")
BLUE = answer("Which colour?", "blue")


def analyzes() -> dict[str, Any]:
    """A reply that reports an analysis without verification commands."""
    return signals(
        "report_analysis", spec_findings=[], project_type="notes", stack=[], verification_commands=[]
    )


_FIRST = {
    "worker": "worker/notes/1",
    "reviewer": "reviewer/notes/1",
    "developer": "developer/notes/1",
    "planner": "planner/plan/1",
}


def whole_run(**callers: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[Mapping[str, Any]]]:
    """The callers of a one-task run that passes, with these in place of the plain ones.

    A role alone stands for its first caller in the run: `worker=[…]` for `**{"worker/notes/1": […]}`.
    """
    return {
        "planner/analysis/1": [analyzes()],
        "planner/plan/1": [plans("notes")],
        "reviewer/plan/*": [passes()],
        "worker/notes/1": [writes("notes.txt", "A line.\n"), completes()],
        "reviewer/notes/*": [passes()],
        "reviewer/notes.checkpoint-*/*": [passes()],
        "reviewer/final/*": [passes()],
        "judge/*": [SATISFIED],
        **{_FIRST.get(name, name): replies for name, replies in callers.items()},
    }
