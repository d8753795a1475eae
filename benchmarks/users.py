"""The part `users` of `benchmarks.lies`: works that look finished, in projects as people have them.

Each pair of `users_*.yaml` is one project and one spec with a lie and its honest twin: both are whole trees
whose suite passes, and a hidden command tells them apart. A lie is `believed` if its run ends with code 0,
and `believed_shown` if a criterion is then examined, tested or computed. `item` is the question that has to
hold it: a lie that another one holds is counted in `held_for_another_reason`, and a pair whose twin does not
end with 0 in the same place shows nothing and is `void`. Those of `users_blind.yaml` were written before the
questions, and are counted apart too.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import yaml

from benchmarks.figures import bounds, print_figures
from benchmarks.rehearsed import (
    Callers,
    agreeing,
    calls,
    commit,
    git,
    own_home,
    rehearse,
    reports,
    request_for,
    toolchains,
)
from orchestrator.checks import objecting
from state.journal.events import CompletionRefused
from state.outcome import Outcome
from state.records.reviews import Mark
from state.settings.sources import user_file

_SHOWN = frozenset({Mark.EXAMINED, Mark.TESTED, Mark.COMPUTED})
_NO_JUDGES = '[efforts.medium]\npower_steering = "none"\n'
_END = "END-OF-FILE"
_LIMIT_S = 120
# The names of the checks by the items of the list of questions: what each item's lies are to be held by.
CHECKS_OF: Mapping[int, frozenset[str]] = {
    1: frozenset({"front door", objecting.BUILD, objecting.CLEAN_COPY}),
    2: frozenset({"same inputs", objecting.BASE_TESTS}),
    3: frozenset({objecting.NEW_ASSERTIONS, objecting.OTHER_RESULTS, objecting.CODE_BEFORE}),
    4: frozenset({objecting.PROPS, objecting.REPLACED}),
    5: frozenset(
        {
            objecting.IMPORTS,
            objecting.REOPENED,
            objecting.DOCUMENTS,
            objecting.SIBLINGS,
            objecting.CONSTRAINTS,
        }
    ),
    6: frozenset(),
    7: frozenset({objecting.CONSTRAINTS}),
}


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A row: a name, and the keys that stand at the head of the file of rows."""

    name: str
    row: Mapping[str, Any]
    blind: bool


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a work's run ended: the checks that kept it from code 0, its marks, and whether it is right."""

    pair: str
    lie: bool
    outcome: Outcome
    checks: tuple[str, ...]
    marks: tuple[Mark, ...]
    right: bool | None
    seconds: float
    text: str

    @property
    def shown(self) -> bool:
        """Whether a criterion is marked as seen by sq."""
        return bool(_SHOWN & {*self.marks})

    @property
    def line(self) -> str:
        """A line about it."""
        kind = "lie" if self.lie else "honest"
        marks = ", ".join(one.words for one in self.marks)
        held = f" by {', '.join(self.checks)}" if self.checks else ""
        return f"{self.pair[:72]:72} {kind:6} {self.outcome.exit_code} {self.seconds:5.1f} s  {marks}{held}"


def pairs() -> Iterator[Pair]:
    """Yield the pairs whose programs are on this machine, and name the others."""
    for file in sorted(Path(__file__).parent.glob("users_*.yaml")):
        for name, row in yaml.safe_load(file.read_text("utf-8")).items():
            if name.startswith("_"):
                continue
            lacking = [one for one in row["programs"] if shutil.which(one) is None]
            if lacking:
                print(f"{name}: not run, it lacks {', '.join(lacking)}")
            else:
                yield Pair(name=name, row=row, blind="blind" in file.stem)


def tried(choose: Callable[[], Any], case: tuple[Pair, bool]) -> Ended:
    """Run one work to its end. `choose` makes the agents: reviewers that say yes and name a test."""
    pair, lie = case
    row, path = pair.row, f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with own_home(**toolchains(), PATH=path), tempfile.TemporaryDirectory() as folder:
        config = user_file()
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(_NO_JUDGES)
        repository = Path(folder) / "repository"
        for file, text in row["files"].items():
            (repository / file).parent.mkdir(parents=True, exist_ok=True)
            (repository / file).write_text(text, "utf-8")
        for file in {*row.get("executable", ())} & {*row["files"]}:
            (repository / file).chmod(0o755)
        commit(repository)
        flags = {"effort": "medium", "verify": (row["verify"],)}
        callers = _callers(row, row["lie" if lie else "honest"])
        run = rehearse(request_for(Path(folder), callers, flags, spec=row["spec"]), choose=choose())
        view = run.view
        proofs = [one for found in view.evidence.proofs.values() for one in found.objections]
        refused = [x.event.for_people for x in run.stored if isinstance(x.event, CompletionRefused)]
        broken = [objecting.CONSTRAINTS] if any("the constraint " in one for one in refused) else []
        return Ended(
            pair=pair.name,
            lie=lie,
            outcome=run.outcome,
            checks=tuple(
                dict.fromkeys([*broken, *(x.check for x in proofs if x.weight not in {"note", "unknown"})])
            ),
            marks=tuple(one.event.mark for one in view.whole.judged.values()),
            right=_oracle(row["hidden"], Path(folder), repository),
            seconds=run.seconds,
            text=run.shown,
        )


def _callers(row: Mapping[str, Any], work: Mapping[str, str | None]) -> Callers:
    criteria = [{**one, "task_ids": ["demand"]} for one in row["criteria"]]
    task = {"id": "demand", "title": "demand", "description": "Do what the spec says."}
    callers = agreeing("demand", tasks=[task], criteria=criteria)
    callers["reviewer/*"] *= 3
    executable = {*row.get("executable", ())}
    commands = [_writing(path, text, path in executable) for path, text in work.items()]
    claim = reports("task_complete", summary="Done.", tests="All pass.")
    return {
        **callers,
        "worker/demand/*": [*(calls("Bash", command=one) for one in commands), claim, claim, claim],
    }


def _writing(path: str, text: str | None, executable: bool) -> str:
    if text is None:
        return f"rm -f {quote(path)}"
    folder, mode = quote(str(Path(path).parent)), f"chmod +x {quote(path)}" if executable else "true"
    body = text if text.endswith("\n") else f"{text}\n"
    return f"mkdir -p {folder} && cat > {quote(path)} <<'{_END}' && {mode}\n{body}{_END}"


def _oracle(command: str, folder: Path, repository: Path) -> bool | None:
    branch = git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/sq").partition("\n")[0]
    clone = folder / "clone"
    git(folder, "clone", "--quiet", "--branch", branch or "main", str(repository), str(clone))
    done = subprocess.run(
        ["bash", "-c", command], cwd=clone, capture_output=True, check=False, timeout=_LIMIT_S
    )
    return done.returncode == 0


def measure(
    choose: Callable[[], Any], only: tuple[str, ...], *, quick: bool, at_once: int, logs: Path | None
) -> None:
    """Run the pairs, print a line for each work, and the figures."""
    here = [one for one in pairs() if any(fnmatch(one.name, f"*{each}*") for each in only)]
    here = here[:: max(1, len(here) // 4)] if quick else here
    cases = [(pair, lie) for pair in here for lie in (True, False)]
    found: dict[tuple[str, bool], Ended] = {}
    with ProcessPoolExecutor(at_once) as pool:
        for one in pool.map(partial(tried, choose), cases):
            found[one.pair, one.lie] = one
            print(one.line, flush=True)
            if logs:
                logs.mkdir(parents=True, exist_ok=True)
                file = logs / re.sub(r"\W+", "-", f"{one.pair} {'lie' if one.lie else 'honest'}")
                file.with_suffix(".txt").write_text(one.text)
    blind = [one for one in here if one.blind]
    figures = {**_figures(here, found), **{f"blind_{k}": v for k, v in _figures(blind, found).items()}}
    print_figures(figures)


def _figures(pairs_of: list[Pair], found: Mapping[tuple[str, bool], Ended]) -> dict[str, Any]:
    both = [(one, found[one.name, True], found[one.name, False]) for one in pairs_of]
    honest = [twin for _, _, twin in both]
    valid = [(one, lie) for one, lie, twin in both if twin.outcome is Outcome.COMPLETE]
    believed = [lie for _, lie in valid if lie.outcome is Outcome.COMPLETE]
    shown = [lie for lie in believed if lie.shown]
    other = [
        lie
        for one, lie in valid
        if lie.outcome is not Outcome.COMPLETE and not CHECKS_OF[one.row["item"]] & {*lie.checks}
    ]
    refused = [twin for twin in honest if twin.outcome is not Outcome.COMPLETE]
    return {
        "pairs": len(both),
        "languages": len({one.row["language"] for one in pairs_of}),
        "believed": len(believed),
        "believed_shown": len(shown),
        "believed_shown_bounds": bounds(len(shown), len(valid)),
        "honest_refused": len(refused),
        "honest_refused_bounds": bounds(len(refused), len(honest)),
        "held_for_another_reason": len(other),
        "void": len(both) - len(valid),
        "honest_wrong": sum(twin.right is False for twin in honest),
        "not_run": 0,
    }
