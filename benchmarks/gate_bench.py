"""Measures power steering on labelled sessions: how many good ones it holds, and how many bad ones.

    python -m benchmarks.gate_bench                 # the rules alone
    python -m benchmarks.gate_bench --judge         # the model first (it costs money)

The parts of the set are counted apart. The command fails if more than 2 % of the good sessions of a part are
held. The share of the bad ones is only shown, since rules are the fallback of a judge that does not answer. A
judge can also answer by files: `--judge-prompts` writes the prompts, and `--judge-replies` reads the answers.
The last line is JSON.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import anyio
import click

from agents.ask.port import Ask, Reply
from agents.caller import Caller
from agents.roles.judge import judge_ask
from agents.transcript.read import read_transcript
from benchmarks.figures import ROOT
from benchmarks.gate_sessions import Examined, Figures, Labelled, Row, Share, figures_of, load_labelled
from orchestrator.cli.gate.check import judge_model
from orchestrator.gates.power_steering.considerations import Consideration, load_considerations
from orchestrator.gates.power_steering.examination import Judge
from orchestrator.gates.power_steering.examine import examine, judge_here, waiting_for
from orchestrator.gates.power_steering.facts import SessionEvidence
from orchestrator.gates.power_steering.rules import RULES
from orchestrator.gates.power_steering.session_facts import facts_of
from orchestrator.views.words import columns
from state.errors import UsageError
from state.records.calls import CallEnd
from state.roles import Role
from state.settings.records import Model

OURS = ROOT / "tests" / "labelled_sessions"
MOST_GOOD_HELD = 2.0  # percent


def _words(_ctx: click.Context, _parameter: click.Parameter, given: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in given.split(",") if word.strip())


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path, file_okay=False, exists=True), default=OURS)
@click.option("--judge", is_flag=True, help="Ask the model first.")
@click.option(
    "--judge-prompts", type=click.Path(path_type=Path), help="Only write the prompts as files here."
)
@click.option(
    "--judge-replies", type=click.Path(path_type=Path, exists=True), help="Answers by files in here."
)
@click.option("--sessions", default="", callback=_words, help="These alone: names or patterns, with commas.")
@click.option("--only", default="", callback=_words, help="Ask these considerations alone.")
@click.option("--explain", is_flag=True, help="Show the errors on each session.")
def main(
    dataset: Path,
    *,
    judge: bool,
    judge_prompts: Path | None,
    judge_replies: Path | None,
    sessions: tuple[str, ...],
    only: tuple[str, ...],
    explain: bool,
) -> None:
    """Measure power steering on the labelled sessions in the folder DATASET."""
    if sum(map(bool, (judge, judge_prompts, judge_replies))) > 1:
        raise click.UsageError("--judge, --judge-prompts and --judge-replies exclude each other")
    try:
        considerations = _considerations(only)
        with tempfile.TemporaryDirectory(prefix="sq-bench-") as name:
            known = [one.id for one in load_considerations(None).considerations]
            labelled = load_labelled(dataset, Path(name), known, named=sessions)
            if judge_prompts or judge_replies:
                files = FileJudge(considerations, judge_model(None), judge_replies)
                examined = anyio.run(examine_all, labelled, considerations, files.of)
                if judge_prompts:
                    print(f"{files.write_prompts(judge_prompts)} prompts are in {judge_prompts}")
                    return
            else:
                examined = anyio.run(_examined, labelled, considerations, judge)
    except UsageError as error:
        raise click.UsageError(str(error)) from error
    parts = by_part(examined, considerations, judged=judge or judge_replies is not None)
    for part, figures in parts.items():
        print("\n".join([f"part {part}: {figures.sessions} sessions", *_part(figures), ""]))
        if explain:
            print("\n".join(line for each in _errors(figures) for line in each))
    print("\n".join(summary_lines(parts)))
    print(json.dumps({part: _as_json(figures) for part, figures in parts.items()}))
    sys.exit(bool(over(parts)))


def _considerations(only: Sequence[str]) -> list[Consideration]:
    every = load_considerations(None).considerations
    if unknown := set(only) - {one.id for one in every}:
        raise UsageError(f"--only: no such consideration: {', '.join(sorted(unknown))}")
    return [one for one in every if not only or one.id in only]


async def _examined(
    labelled: Sequence[Labelled], considerations: Sequence[Consideration], ask: bool
) -> list[Examined]:
    async with judge_here(judge_model(None), os.environ, rules_only=not ask) as judge:
        if ask and judge.ask is None:
            raise UsageError("there is no judge: set ANTHROPIC_API_KEY or sign in to Claude Code")
        return await examine_all(labelled, considerations, lambda _: judge)


async def examine_all(
    labelled: Sequence[Labelled],
    considerations: Sequence[Consideration],
    judge_of: Callable[[Labelled], Judge],
) -> list[Examined]:
    """Examine every session, one after the other."""
    examined = []
    for one in labelled:
        transcript = read_transcript(one.transcript)
        evidence = SessionEvidence(transcript=transcript, facts=facts_of(transcript))
        examination = await examine(evidence, considerations, judge_of(one), RULES)
        examined.append(Examined(labelled=one, examination=examination, waits=waiting_for(evidence)))
    return examined


def by_part(
    examined: Sequence[Examined], considerations: Sequence[Consideration], *, judged: bool
) -> dict[str, Figures]:
    """The figures of each part, by its name."""
    parts = dict.fromkeys(one.labelled.part for one in examined)
    return {
        part: figures_of(
            [one for one in examined if one.labelled.part == part], considerations, judged=judged
        )
        for part in parts
    }


def over(parts: Mapping[str, Figures]) -> list[str]:
    """The parts in which too many good sessions are held."""
    return [part for part, one in parts.items() if 100 * one.good_held.share > MOST_GOOD_HELD]


def summary_lines(parts: Mapping[str, Figures]) -> list[str]:
    """A table with a line for each part, and a line for each one that holds too many good sessions."""
    titles = ("part", "sessions", "good held", "95 %", "bad held", "of visible", "announced held")
    rows = [
        (
            part,
            str(one.sessions),
            _of(one.good_held),
            _interval(one.good_held),
            _of(one.bad_held),
            _of(one.visible_held),
            _of(one.announced_held),
        )
        for part, one in parts.items()
    ]
    failed = (
        f"FAILED: {part} holds more than {MOST_GOOD_HELD:g} % of its good sessions" for part in over(parts)
    )
    return [*columns(titles, rows), *failed]


def _part(figures: Figures) -> Iterator[str]:
    titles = ("consideration", "severity", "asked", "decided", "called unmet, rightly", "unmet, found")
    rows = [_row(row) for row in figures.rows if row.asked or row.found.total]
    yield from columns(titles, rows)
    yield f"session types as labelled: {_of(figures.types)}"
    if figures.agreement.total or figures.not_answered:
        agreement = figures.agreement
        yield (
            f"judge and labels agree: {_of(agreement)} ({_interval(agreement)}), "
            f"not answered: {figures.not_answered}, ${figures.cost_usd:.4f}"
        )


def _errors(figures: Figures) -> Iterator[list[str]]:
    for name, errors in figures.wrong.items():
        yield [f"{name}:", *(f"    {error}" for error in errors)]


def _as_json(figures: Figures) -> dict[str, object]:
    shares = ("good_held", "bad_held", "visible_held", "announced_held", "types", "agreement")
    return {
        "sessions": figures.sessions,
        **{name: [getattr(figures, name).count, getattr(figures, name).total] for name in shares},
        "not_answered": figures.not_answered,
        "cost_usd": figures.cost_usd,
    }


def _row(row: Row) -> tuple[str, ...]:
    return (row.id, row.severity, str(row.asked), str(row.decided), _of(row.right), _of(row.found))


def _of(share: Share) -> str:
    return f"{share.count}/{share.total}" if share.total else "-"


def _interval(share: Share) -> str:
    low, high = share.interval
    return f"{low:.0%} to {high:.0%}" if share.total else ""


class FileJudge:
    """Answers the prompts of a data set by the files in `replies`, and keeps the prompts.

    A file is named SESSION.CONSIDERATION.json, with a dot for each slash of the session's name. Without the
    file, or with `replies` None, there is no answer.
    """

    def __init__(self, considerations: Sequence[Consideration], model: Model, replies: Path | None) -> None:
        """Keep the considerations that may be asked, and the model whose context the prompts have to fit."""
        self.asked: dict[str, tuple[str, str, Ask]] = {}
        self._considerations = considerations
        self._model = model
        self._replies = replies

    def of(self, session: Labelled) -> Judge:
        stem = session.name.replace("/", ".")
        caller = Caller(role=Role.JUDGE, task=stem, attempt=1)
        # An `Ask` does not name its question, so its prompt identifies it.
        ids = {
            judge_ask(
                [one], model=self._model, caller=caller, shared="", before={}, deadline_s=0
            ).prompt: one.id
            for one in self._considerations
        }

        async def ask(ask: Ask) -> Reply:
            name = f"{stem}.{ids[ask.prompt]}"
            self.asked[name] = (session.name, ids[ask.prompt], ask)
            return self._reply(name)

        return Judge(model=self._model, ask=ask, caller=caller)

    def write_prompts(self, folder: Path) -> int:
        """Write each prompt that was asked, and return their number.

        Raises:
            UsageError: the folder cannot be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, (session, asked, ask) in self.asked.items():
                shown = {
                    "id": name,
                    "session": session,
                    "considerations": [asked],
                    "system": ask.system,
                    "shared": ask.shared,
                    "prompt": ask.prompt,
                    "schema": ask.schema,
                }
                text = json.dumps(shown, ensure_ascii=False, indent=1)
                (folder / f"{name}.json").write_text(f"{text}\n", "utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"--judge-prompts {folder}: cannot be written: {error}") from error
        return len(self.asked)

    def _reply(self, name: str) -> Reply:
        file = self._replies / f"{name}.json" if self._replies else None
        if file is None or not file.is_file():
            return Reply(end=CallEnd.UNANSWERED, detail=f"there is no {name}.json")
        text = file.read_text("utf-8", errors="replace")
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            return Reply(end=CallEnd.UNUSABLE, text=text, detail=f"{name}.json holds no JSON object")
        return Reply(end=CallEnd.COMPLETED, answer=answer)


if __name__ == "__main__":
    main()
