"""`sq gate bench`: measures power steering on a folder of labelled sessions, part by part."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli.gate.options import explain_option, json_option, judge_model, project_option
from orchestrator.views.screen import say, say_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.gates.power_steering.considerations import Consideration
    from orchestrator.gates.power_steering.measured.bench import Examined
    from orchestrator.gates.power_steering.measured.figures import Measured
    from orchestrator.gates.power_steering.measured.labels import Labelled
    from orchestrator.gates.power_steering.measured.parts import Part
    from orchestrator.views.gates.measured import Bench, MeasuredPart

_OVER = 1  # exit code: a threshold is exceeded


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The values of the command line."""

    dataset: Path
    project: Path | None
    judge: bool
    prompts: Path | None
    replies: Path | None
    at: str
    sessions: str
    only: tuple[str, ...]

    @property
    def judged(self) -> bool:
        """Whether a judge's answers are counted."""
        return self.judge or self.replies is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """The part of the data set that is measured."""

    considerations: "Sequence[Consideration]"
    sessions: "Sequence[Labelled]"
    parts: "Sequence[Part]"


def _ids(_ctx: click.Context, _parameter: click.Parameter, given: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in given.split(",") if one.strip())


@click.command("bench", short_help="Measure false blocks and misses on labelled sessions.")
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--judge", "judge", is_flag=True, help="Ask the model too (it costs money). Default: rules alone."
)
@click.option(
    "--judge-prompts",
    "prompts",
    type=click.Path(path_type=Path, file_okay=False),
    help="Measure nothing, but write each prompt of the judge with its schema to a file in this folder.",
)
@click.option(
    "--judge-replies",
    "replies",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Take the judge's answers from the files in this folder.",
)
@click.option("--at", metavar="COMMIT", default="", help="Use the rules of this commit of sq.")
@click.option(
    "--sessions",
    metavar="NAMES",
    default="",
    help="These sessions alone: names, patterns, or a file of them.",
)
@click.option("--only", metavar="IDS", default="", callback=_ids, help="Ask these considerations alone.")
@click.option(
    "--max-false-blocks", type=click.FloatRange(0, 100), default=3.0, show_default=True, help="Percent."
)
@click.option("--max-misses", type=click.FloatRange(0, 100), default=8.0, show_default=True, help="Percent.")
@explain_option
@project_option
@json_option
def bench(
    dataset: Path,
    judge: bool,
    prompts: Path | None,
    replies: Path | None,
    at: str,
    sessions: str,
    only: tuple[str, ...],
    max_false_blocks: float,
    max_misses: float,
    explain: bool,
    project: Path | None,
    as_json: bool,
) -> int:
    """Check every labelled session in the folder DATASET and count the errors, by parts (parts.yaml).

    Exit code 1 if a part that is not blind exceeds a threshold for good sessions held or bad ones let go, or
    if a pair does not flip. With rules alone, only bad sessions that rules can see count.
    """
    import anyio

    from orchestrator.views.gates.measured import bench_json, bench_lines

    asked = _Asked(
        dataset=dataset, project=project, judge=judge, prompts=prompts, replies=replies, at=at,
        sessions=sessions, only=only,
    )  # fmt: skip
    _refuse_together(asked)
    if prompts is not None:
        return _written(anyio.run(_write_prompts, asked, prompts), prompts, as_json=as_json)
    measured = anyio.run(_measured, asked)
    over = [line for part in measured.parts for line in _over(part, max_false_blocks, max_misses, asked)]
    if as_json:
        say_json({"ok": not over, "failed": over, **bench_json(measured)})
    else:
        say(*bench_lines(measured, explain=explain, judged=asked.judged), *(f"FAILED: {one}" for one in over))
    return _OVER if over else 0


def _refuse_together(asked: _Asked) -> None:
    given = {
        "--judge": asked.judge,
        "--judge-prompts": asked.prompts,
        "--judge-replies": asked.replies,
        "--at": asked.at,
    }
    flags = [flag for flag, value in given.items() if value]
    if asked.at and asked.project:
        flags.append("--project")
    if len(flags) > 1:
        raise click.UsageError(f"{' and '.join(flags)} exclude each other. Give one of them")


def _written(count: int, folder: Path, *, as_json: bool) -> int:
    if as_json:
        say_json({"prompts": count, "folder": str(folder)})
    else:
        say(f"{count} prompts are in {folder}. Put the answers into files of the same names in a folder,")
        say("and give that folder to --judge-replies, with the same --sessions and --only")
    return 0


def _load(asked: _Asked) -> _Loaded:
    from orchestrator.gates.power_steering.loading import load_considerations
    from orchestrator.gates.power_steering.measured.labels import load_labelled
    from orchestrator.gates.power_steering.measured.parts import check_known, chosen, load_parts

    considerations = load_considerations(asked.project).considerations
    known = {one.id: one for one in considerations}
    check_known("--only", asked.only, known)
    everything = load_labelled(asked.dataset, known)
    return _Loaded(
        considerations=[one for one in considerations if not asked.only or one.id in asked.only],
        sessions=chosen(everything, asked.sessions, known) if asked.sessions else everything,
        parts=load_parts(asked.dataset, everything),
    )


async def _write_prompts(asked: _Asked, folder: Path) -> int:
    from orchestrator.gates.power_steering.measured.bench import examine_all
    from orchestrator.gates.power_steering.measured.judge_files import FileJudge, check_names

    loaded = _load(asked)
    check_names(loaded.sessions)
    judge = FileJudge(loaded.considerations, judge_model(asked.project), None)
    await examine_all(loaded.sessions, loaded.considerations, judge.of)
    return judge.write_prompts(folder)


async def _measured(asked: _Asked) -> "Bench":
    from orchestrator.gates.power_steering.measured.at_commit import current_commit, resolved
    from orchestrator.gates.power_steering.measured.bench import counted
    from orchestrator.views.gates.measured import Bench, MeasuredPart

    loaded = _load(asked)
    commit = await resolved(asked.at) if asked.at else await current_commit()
    examined = await _examined(asked, loaded, commit)

    def counts(some: "Sequence[Examined]") -> "Measured":
        return counted(some, loaded.considerations, judged=asked.judged)

    return Bench(
        commit=commit,
        whole=counts(examined),
        parts=tuple(
            MeasuredPart(part=part, measured=counts([one for one in examined if part.holds(one.labelled)]))
            for part in loaded.parts
        ),
    )


async def _examined(asked: _Asked, loaded: _Loaded, commit: str) -> "list[Examined]":
    from orchestrator.gates.power_steering.judge_here import judge_here
    from orchestrator.gates.power_steering.measured.bench import examine_all
    from orchestrator.gates.power_steering.measured.judge_files import FileJudge, check_names
    from state.errors import UsageError

    if asked.at:
        return await _examined_at(loaded, commit)
    model = judge_model(asked.project)
    if asked.replies is not None:
        check_names(loaded.sessions)
        files = FileJudge(loaded.considerations, model, asked.replies)
        return await examine_all(loaded.sessions, loaded.considerations, files.of)
    async with judge_here(model, os.environ, rules_only=not asked.judge) as judge:
        if asked.judge and judge.ask is None:
            raise UsageError(
                "there is no judge: set ANTHROPIC_API_KEY or sign in to Claude Code, or leave --judge out"
            )
        return await examine_all(loaded.sessions, loaded.considerations, lambda _: judge)


async def _examined_at(loaded: _Loaded, commit: str) -> "list[Examined]":
    from orchestrator.gates.power_steering.measured.at_commit import observe_at
    from orchestrator.gates.power_steering.measured.bench import Examined
    from orchestrator.gates.power_steering.measured.observing import Task

    all_ids = frozenset(one.id for one in loaded.considerations)
    tasks = [
        Task(
            transcript=str(one.transcript.resolve()),
            only=tuple(sorted(all_ids if one.only is None else all_ids & one.only)),
        )
        for one in loaded.sessions
    ]
    observed = await observe_at(commit, tasks)
    return [
        Examined(labelled=one, observed=seen) for one, seen in zip(loaded.sessions, observed, strict=True)
    ]


def _over(one: "MeasuredPart", max_false_blocks: float, max_misses: float, asked: _Asked) -> list[str]:
    """The exceeded thresholds of this part. Empty for a blind one."""
    if one.part.blind:
        return []
    measured = one.measured
    limits = (
        ("good sessions held", measured.false_blocks, max_false_blocks),
        (
            "bad sessions let go",
            measured.misses if asked.judged else measured.visible_misses,
            max_misses,
        ),
    )
    over = [
        f"{one.part.name}: {name}: {share.count} of {share.total} is {share.share:.1%}, more than {limit:g} %"
        for name, share, limit in limits
        if 100 * share.share > limit
    ]
    if measured.pairs.count < measured.pairs.total:
        missing = measured.pairs.total - measured.pairs.count
        over.append(f"{one.part.name}: {missing} of {measured.pairs.total} pairs do not flip")
    return over
