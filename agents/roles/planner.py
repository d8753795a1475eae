"""The Planner: reads the repository and turns the spec into tasks. It only reads."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

import prompts
from agents.backend import Platform
from agents.caller import Caller
from agents.session.port import SessionSpec
from agents.session.tools import REPORT_ANALYSIS, SIGNALS, SUBMIT_PLAN
from state.records.plan import Analysis, Plan
from state.records.spec_check import MOST_QUOTED, SpecFinding, plain
from state.roles import Role

ANALYSIS = "analysis"
PLAN = "plan"
_TOOL: Mapping[str, str] = {ANALYSIS: REPORT_ANALYSIS, PLAN: SUBMIT_PLAN}


def system_prompt() -> str:
    return prompts.render("planner_system")


def planner_session(
    platform: Platform,
    *,
    subject: str,
    attempt: int,
    workspace: Path,
    session_id: str,
    resume: bool,
    cost: float,
) -> SessionSpec:
    """Return a session that reports an analysis or a plan (`subject`), and has the tool for that alone."""
    return platform.session(
        Caller(role=Role.PLANNER, task=subject, attempt=attempt, values={"workspace": str(workspace)}),
        workspace=workspace,
        system=system_prompt(),
        signals=tuple(tool for tool in SIGNALS[Role.PLANNER] if tool.name == _TOOL[subject]),
        session_id=session_id,
        resume=resume,
        cost_before_usd=cost,
    )


def read_analysis(payload: str) -> Analysis:
    """Return the analysis in a `report_analysis` call (validated when it was received)."""
    return msgspec.json.decode(payload, type=Analysis)


def read_findings(payload: str, spec: str) -> tuple[SpecFinding, ...] | None:
    """Return the faults of the spec in a `report_analysis` call, with their quotes, or None without any list.

    They have no ids yet, and may name lines that do not exist.
    """
    said = msgspec.json.decode(payload).get("spec_findings")
    if said is None:
        return None
    lines = spec.splitlines()
    found = []
    for one in said:
        numbers = tuple(sorted(set(one["lines"])))
        named = (lines[number - 1].strip() for number in numbers if 1 <= number <= len(lines))
        quote = "\n".join([line for line in named if plain(line)][:MOST_QUOTED])
        about = {**one, "lines": numbers, "quote": quote, "decides": one["decides_outcome"]}
        found.append(msgspec.convert(about, SpecFinding))
    return tuple(found)


def read_plan(payload: str) -> Plan:
    """Return the plan in a `submit_plan` call (its shape was validated when it was received)."""
    said = msgspec.json.decode(payload)
    for one in said.get("criteria", ()):
        first, last = one.pop("first_line", 0), one.pop("last_line", 0)
        one["spec_lines"] = (first, max(first, last)) if first > 0 else (0, 0)
    return msgspec.convert(said, type=Plan)
