"""The model of the rehearsed live tests: what it says in each conversation, or the opposite of it.

The opposite is a model that does its work badly and judges against the labels, with which every live test
that asks a model has to fail.
"""

from agents.gateway.script import Scenario
from agents.roles.judge import shared_part
from agents.transcript.render import rendered
from language.rehearsed import Conversations
from language.scripted import analyzes, answer, answers, asks, call, completes, passes, plans, question, says
from language.sessions_to_judge import sessions_to_judge
from language.tables import table

_WHOLE = 10_000_000  # characters: more than any session has
_WHICH = question("Which colour is the sign?", "red", "blue", "green")
_COUNTER = table(__file__, "counter")
_SIGN = table(__file__, "sign")


def conversations() -> list[Conversations]:
    """By what each conversation is known."""
    judge = "You are the Judge of sq."
    sessions = [
        Conversations(
            caller=f"judge/{one.name}",
            words=(judge, shared_part(rendered(one.transcript, _WHOLE)).strip()),
        )
        for one in sessions_to_judge()
    ]
    of_runs = [
        Conversations(caller=f"{role}/{subject}", words=(f"You are the {role.title()} of sq.", heading))
        for role in ("worker", "reviewer", "developer", "planner")
        for subject, heading in (("counter", "# Simple Counter"), ("sign", "# The colour of the sign"))
    ]
    system3 = "You judge whether a System 3 session"
    return [
        # Its prompt may have the spec too.
        Conversations(
            caller="planner/analysis", words=("You are the Planner of sq.", "# Read this repository")
        ),
        *of_runs,
        *sessions,
        Conversations(caller="judge/run", words=(judge,)),
        Conversations(caller="stop/finished", words=(system3, "no server running")),
        Conversations(caller="stop/in_the_middle", words=(system3,)),
    ]


def scenario(*, opposite: bool = False) -> Scenario:
    """All that the model says."""
    callers = {**_runs(opposite=opposite), **_judgements(opposite=opposite), **_stops(opposite=opposite)}
    return Scenario(scenario=1, description="the live tests", callers=callers)


def _runs(*, opposite: bool) -> dict[str, list[dict[str, object]]]:
    counter = _COUNTER.format(step=2 if opposite else 1)
    sign = _SIGN.format(colour="green" if opposite else "blue")
    return {
        "planner/analysis": [analyzes()],
        "planner/counter": [plans("counter")],
        "worker/counter": [says(call("Bash", command=counter)), completes()],
        "reviewer/counter": [passes()],
        "worker/sign": [
            asks(_WHICH),
            says(call("Bash", command=sign), expect={"tool_results_contain": "blue"}),
            completes(),
        ],
        "developer/sign": [answers(answer(_WHICH["question"], "blue"))],
        "reviewer/sign": [passes()],
        "judge/run": [_finds(met=True)],
    }


def _judgements(*, opposite: bool) -> dict[str, list[dict[str, object]]]:
    return {
        f"judge/{session.name}": [
            {"when": one.question, **_finds(met=session.met is not opposite)}
            for one in session.considerations
        ]
        for session in sessions_to_judge()
    }


def _stops(*, opposite: bool) -> dict[str, list[dict[str, object]]]:
    return {
        "stop/finished": [_closes(ended=not opposite)],
        "stop/in_the_middle": [_closes(ended=opposite)],
    }


def _finds(*, met: bool) -> dict[str, object]:
    verdict = "satisfied" if met else "not_satisfied"
    return {"structured": {"verdict": verdict, "reason": "It was seen.", "quote": ""}}


def _closes(*, ended: bool) -> dict[str, object]:
    return {
        "structured": {
            "should_continue": not ended,
            "reason": "It was seen.",
            "suggestion": "" if ended else "Take the announced step.",
        }
    }
