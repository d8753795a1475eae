"""A spec of twelve tasks: a chain, a diamond, an independent one, two that edit the same line, one that is stuck.

Each leaves the same tree in whatever order the tasks are merged. The two that edit the same line conflict where
neither saw the other's work, and a resolver brings them together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from language.scripted import call, completes, passes, plans, says, signals, writes

Callers = Mapping[str, Sequence[Mapping[str, Any]]]
SPEC = "# Many\n\nA file for each task, and one line of words.\n"
WORDS = "words.txt"
# Red while a marker stands or the words are not one sorted line.
VERIFY = f"python3 -c \"import sys; w = open('{WORDS}').read().split(); sys.exit(w != sorted(w))\""
STUCK, WAITS = "stuck", "waits"
DEPENDENCIES = {
    "chain2": ["chain1"],
    "chain3": ["chain2"],
    "left": ["top"],
    "right": ["top"],
    "bottom": ["left", "right"],
    WAITS: [STUCK],
}
EDITORS = ("eel", "fox")
TWELVE = ("chain1", "chain2", "chain3", "top", "left", "right", "bottom", "alone", *EDITORS, STUCK, WAITS)
MERGED = tuple(task for task in TWELVE if task not in {STUCK, WAITS})


def adds_word(word: str) -> dict[str, Any]:
    """A reply that adds a word to the sorted line, whatever it holds."""
    code = f"p = '{WORDS}'; w = sorted(open(p).read().split() + ['{word}']); open(p, 'w').write(' '.join(w) + '\\n')"
    return says(call("Bash", command=f'python3 -c "{code}"'))


def resolves() -> list[dict[str, Any]]:
    """A resolver that brings both words into the line."""
    return [writes(WORDS, f"ant {' '.join(EDITORS)}\n"), signals("conflict_resolved", summary="Both words.")]


def callers_of(*tasks: str) -> Callers:
    """The callers of a run of these tasks, with the dependencies that they have in the spec of twelve."""
    callers: dict[str, Sequence[Mapping[str, Any]]] = {
        "planner/analysis/1": [signals("report_analysis", spec_findings=[], project_type="words", stack=[])],
        "planner/plan/1": [plans(*tasks, **DEPENDENCIES)],
        "reviewer/*": [passes()],
        "resolver/*": resolves(),
    }
    for task in tasks:
        work = adds_word(task) if task in EDITORS else writes(f"{task}.txt", f"{task}\n")
        callers[f"worker/{task}/1"] = [work, completes()]
    if STUCK in tasks:
        callers[f"worker/{STUCK}/1"] = [signals("task_stuck", reason="the service is not there")]
    return callers
