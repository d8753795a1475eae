"""Complaints of a check that is no test, such as a linter, with its own files as they were at the base."""

from orchestrator.checks.answers import Answers
from orchestrator.checks.bench import Bench
from orchestrator.checks.change import Change
from orchestrator.checks.comparison import ResultComparison
from orchestrator.checks.objecting import COMPLAINTS, unknown
from orchestrator.checks.results.output import cause_of
from orchestrator.checks.results.running import run_on
from orchestrator.checks.results.verdict import CommandVerdict, judged
from orchestrator.git.trees import changed_paths, pieced_together
from orchestrator.project.checks import tools_of
from orchestrator.project.files import matches
from state.records.reviews import TestChange, TestChangeKind

_OUTPUT_KEPT = 1_500  # characters of its complaints


async def ask(change: Change, bench: Bench, compared: ResultComparison, _: Answers) -> Answers:
    """Return a change if a check has new complaints with its own files, such as a configuration, put back."""
    check = change.baseline.checks.get(compared.command)
    globs = [file for _, tool in tools_of(compared.there) for one in tool.found for file in one.files]
    shown = [f"/{one}" for glob in globs for one in glob.split("|")]
    changed = await changed_paths(change.repository, change.base, change.tree)
    paths = [*compared.touched.configuration, *compared.touched.manifests]
    paths += [path for path in changed if path not in paths and matches(path, shown)]
    if check is None or not paths:
        return Answers()
    mixed = await pieced_together(change.repository, change.tree, of=change.base, paths=paths)
    found = judged(check, await run_on(bench, compared, mixed, []))
    if found.verdict is CommandVerdict.UNANSWERED:
        told = f"whether `{compared.command}` complains with {paths[0]} of the base: {found.why}"
        return Answers(objections=(unknown(COMPLAINTS, compared.command, told),))
    if found.verdict is not CommandVerdict.FAILED:
        return Answers()
    told = "\n".join(one.words for one in found.complaints) or cause_of(found.run)
    name, kind = f"`{compared.command}` with {paths[0]} of the base", TestChangeKind.FAILS
    return Answers(changes=(TestChange(test=name, path=paths[0], kind=kind, detail=told[:_OUTPUT_KEPT]),))
