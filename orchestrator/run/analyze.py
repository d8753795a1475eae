"""analyze: what the repository is. Skipped where it holds nothing to read."""

from functools import partial

import prompts
from agents.planner import ANALYSIS, planner_session, read_analysis
from orchestrator.git.repository import tracked_files
from orchestrator.run.calls import Conversation, failure_of
from orchestrator.run.record import Run
from state.errors import AgentError
from state.events import RepositoryAnalyzed
from state.records import Analysis, Role

_FILES_SHOWN = 400


async def analyze(run: Run) -> None:
    """Record what the repository is, or that there is nothing to read.

    Raises:
        AgentError: the planner could not be asked.
    """
    files = await tracked_files(run.reading_room)
    if not files:
        run.record(RepositoryAnalyzed(analysis=Analysis(), skipped="the repository is empty"))
        return
    spec_for = partial(planner_session, run.platform, subject=ANALYSIS, attempt=1, workspace=run.reading_room)
    async with Conversation(run, role=Role.PLANNER, task_id=ANALYSIS, attempt=1, spec_for=spec_for) as talk:
        ended = [call for call in talk.calls if call.end]
        call = ended[-1] if ended else await talk.ask(_prompt(files))
    if call.payload:
        run.record(RepositoryAnalyzed(analysis=read_analysis(call.payload)))
    elif failure := failure_of(call):
        raise AgentError(f"the repository could not be analyzed: {failure}")
    else:
        skipped = "the planner ended its turn without a report"
        run.record(RepositoryAnalyzed(analysis=Analysis(), skipped=skipped))


def _prompt(files: list[str]) -> str:
    shown = "\n".join(f"- {name}" for name in files[:_FILES_SHOWN])
    return prompts.render("analyze", files=shown, limit=_FILES_SHOWN)


def described(analysis: Analysis) -> str:
    """The analysis as the planner of tasks reads it."""
    lines = [
        f"Project: {analysis.project_type}" if analysis.project_type else "",
        *_listed("Stack", analysis.stack),
        *_listed("Entry points", analysis.entry_points),
        *_listed("Patterns", analysis.patterns),
        *_listed("Verification commands", analysis.verification_commands),
    ]
    return "\n".join(line for line in lines if line) or "It is empty, or nothing is known about it."


def _listed(name: str, values: tuple[str, ...]) -> list[str]:
    return [f"{name}: {'; '.join(values)}"] if values else []
