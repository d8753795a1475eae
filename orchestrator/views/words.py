"""Parts that lines have in common: short texts, results, findings, tool calls, columns, spans of time."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from orchestrator.views.screen import cell
from state.records.calls import CallEnd, Message
from state.records.commands import AddedPackage, CommandRun, HostUse
from state.records.plan import Forecast, Task
from state.records.reviews import Evidence, ReviewIssue
from state.records.spec_check import Decider

_SUBJECTS = {"": "the whole", "plan": "the plan", "analysis": "the analysis"}
_SHORT = 100
DECIDERS = {
    Decider.PERSON: "you, before the work",
    Decider.DEVELOPER: "the Developer, without you before the work",
    Decider.RECOMMENDED: "the recommended option, taken without you before the work",
}


def retry_cause(end: CallEnd, resets_at: datetime | None) -> str:
    """Return why a call is tried again, in short: an API that names the end of a limit has reached one."""
    return "a usage limit is reached" if resets_at else str(end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason why a task does not go on. `seq` is the place of the event that says so, or 0."""

    text: str
    seq: int = 0


def short(text: str, limit: int = _SHORT) -> str:
    """A text's first line, cut behind a word if it is long."""
    first = text.strip().split("\n", 1)[0]
    if len(first) <= limit:
        return first
    cut = first[:limit].rpartition(" ")[0].rstrip()
    return f"{cut if len(cut) > limit // 2 else first[: limit - 1]}…"


def said(done: CommandRun) -> str:
    """The result of a verification command in words."""
    return "passed" if done.passed else done.problem or f"failed, exit code {done.exit_code}"


def subject_of(task_id: str) -> str:
    """The subject of a call: a task, or a name for a subject that is not a task."""
    return _SUBJECTS.get(task_id, task_id)


def issue_lines(issue: ReviewIssue) -> list[str]:
    """A finding and how to fix it."""
    return [f"    {issue.location} ({issue.type}): {issue.description}", f"        Fix: {issue.suggestion}"]


def evidence_line(evidence: Evidence) -> str:
    """A piece of evidence for a criterion, and why it holds, or does not hold as a proof."""
    weak = ", which proves no single behaviour" if evidence.holds and evidence.general else ""
    return f"{evidence.kind} {short(evidence.ref, 200)}: {short(evidence.why, 200)}{weak}"


def plan_lines(tasks: Iterable[Task]) -> list[str]:
    """The tasks of a plan, each with its dependencies."""
    lines = []
    for task in tasks:
        after = f" (after {', '.join(task.dependencies)})" if task.dependencies else ""
        lines.append(f"    {task.id}: {task.title}{after}")
    return lines


def listed_options(options: Sequence[str], recommended: str) -> list[str]:
    """Options with their numbers, from 1. The recommended one says so."""
    marked = (f"{one} (recommended)" if one == recommended else one for one in options)
    return [f"{number}. {one}" for number, one in enumerate(marked, start=1)]


def forecast_lines(forecast: Forecast) -> list[str]:
    """A forecast in lines: the half of such runs, nine of ten, and what it rests on."""
    half = f"${forecast.usd_p50:.2f} and {duration(forecast.seconds_p50)}"
    most = f"${forecast.usd_p90:.2f} and {duration(forecast.seconds_p90)}"
    return [f"forecast: half of such runs end below {half}, nine of ten below {most} ({forecast.basis})"]


def outlook_lines(
    forecast: Forecast | None, spent: tuple[float, float] | None, *, is_done: bool = True
) -> list[str]:
    """A forecast in lines, and how the end compares if `spent` has its cost in USD and its seconds.

    `is_done`: all its work was merged. A forecast is of the whole work, so another end is not compared.
    """
    if forecast is None or spent is None:
        return forecast_lines(forecast) if forecast else []
    if not is_done:
        ended = (
            f"in the end: the run cost ${spent[0]:.2f} and took {duration(spent[1])}, without all of its work"
        )
        return [*forecast_lines(forecast), f"{ended}: the forecast was for all of it"]
    cost = _compared(spent[0], forecast.usd_p50, forecast.usd_p90)
    time = _compared(spent[1], forecast.seconds_p50, forecast.seconds_p90)
    ended = f"in the end: the run cost ${spent[0]:.2f}, {cost}, and took {duration(spent[1])}, {time}"
    return [*forecast_lines(forecast), ended]


def _compared(value: float, half: float, most: float) -> str:
    if value <= half:
        return "less than forecast"
    return "as forecast" if value <= most else "more than forecast"


def tool_call(root: str, message: Message) -> str:
    """A tool call in short: the tool and its file, command or pattern. `root`: paths are shown from there."""
    try:
        arguments = json.loads(message.text)
    except ValueError:
        arguments = {}
    arguments = arguments if isinstance(arguments, dict) else {}
    value = next(
        (arguments[key] for key in ("file_path", "command", "pattern", "path") if key in arguments), ""
    )
    if root:
        value = str(value).replace(f"{root}/", "…/")
    return short(f"{message.tool} {value}".strip())


_GAP = "  "


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], *, indent: str = "") -> list[str]:
    """A header and rows as lines. Each column is as wide as its widest cell, the last one unpadded."""
    lines = [[cell(one) for one in line] for line in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return [
        indent + _GAP.join(one.ljust(width) for one, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


_MINUTE_S = 60


def duration(seconds: float) -> str:
    """A span of time in words: `12 s`, `3 min 20 s`, `2 h 5 min`."""
    minutes, rest = divmod(round(seconds), _MINUTE_S)
    hours, minutes = divmod(minutes, _MINUTE_S)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def percent(share: float | None) -> str:
    """A part of a whole in percent: `62 %`, or a dash for None."""
    return "—" if share is None else f"{share:.0%}".replace("%", " %")


def clock(seconds: float) -> str:
    """A span of time in figures: `0:12`, `3:20`, `2:05:00`."""
    minutes, rest = divmod(int(seconds), _MINUTE_S)
    hours, minutes = divmod(minutes, _MINUTE_S)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def time_of_day(moment: datetime) -> str:
    """Return the local time of day, to the second."""
    return f"{moment.astimezone():%H:%M:%S}"


def local_time(moment: datetime) -> str:
    """Return a moment in local time, to the second."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S}"


def git_sentence(paths: Iterable[str]) -> str:
    """Name the files that changed by which git runs programs."""
    sentence = (
        "sq uses its copies from the run's start, and your git will use them: look at them before you run it"
    )
    return f"git's files changed during the run, by an agent or by you: {', '.join(paths)}. {sentence}"


def host_words(use: HostUse) -> list[str]:
    """Return a line on the use of a host by sandboxes, and one on its refused requests."""
    told = f"{use.requests} request(s), {use.received:,} bytes received and {use.sent:,} sent"
    refused = f"{use.refusals} request(s) refused: {'; '.join(use.refused)}"
    lines = [told] * bool(use.requests) + [refused] * bool(use.refusals)
    return [f"{use.host}: {line}" for line in lines]


def package_words(packages: Iterable[AddedPackage], more: int) -> list[str]:
    """Return a line for each added package, and one on those that are not named."""
    lines = [
        f"{one.ecosystem} package added: {one.name} {one.version}, licence {one.licence or 'not known'}"
        for one in packages
    ]
    return [*lines, *([f"{more} more packages are added"] if more else [])]


def merge_words(branch: str, reason: str) -> str:
    """Return the words of git that take kept work. A plain merge overwrites a file that git ignores."""
    keeps = "--no-overwrite-ignore " if "would be overwritten" in reason else ""
    return f"merge {keeps}{branch}"
