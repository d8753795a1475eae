"""Five questions about a run to a reader who has its report and nothing else, and the score of the answers.

`python -m benchmarks.two_minutes RUN_FOLDER --ask` prints the questions with the form of the answers.
`--key FILE` writes the right answers, which come from the journal and not from the report. Write them before
the reader answers. `--answers FILE` compares, and prints JSON with `score` (of 5) and each question's result.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from state.journal.fold.fold import fold
from state.journal.store import JournalReader
from state.journal.view import RunView

ENOUGH = 4  # of five
_CENTS = 0.011
QUESTIONS = """You have the report of an unattended run of coding agents, and nothing else.
Answer with one JSON object:
{
  "seen": {"c-1": "the evidence that shows it, word for word", …}, of those examined, tested or computed
  "decided": ["the answer that was given to a question without the user", …],
  "unseen": ["c-2", …], every other criterion, by its id
  "cost_usd": the cost of the whole run as a number,
  "check": "the command by which the user checks the finished work"
}
"""


def key_of(view: RunView) -> dict[str, Any]:
    """Return the right answers, from the journal alone."""
    judged = {id_: one.event for id_, one in view.whole.judged.items() if one.event.tree == view.whole.tree}
    seen = {id_: event.proof.ref for id_, event in judged.items() if event.proof}
    verified = view.evidence.verifications.get(view.whole.tree)
    return {
        "seen": seen,
        "decided": [answer.text for _, answer in view.decided()],
        "unseen": [one.id for one in view.plan.criteria if one.id not in seen],
        "cost_usd": round(view.cost_usd, 4),
        "check": [view.whole.commit[:7], *(run.command for run in (verified.runs if verified else ()))],
    }


def compared(key: dict[str, Any], answers: dict[str, Any]) -> dict[str, bool]:
    """Return for each question whether the answer is right."""
    seen, decided = answers.get("seen") or {}, " ".join(map(str, answers.get("decided") or []))
    cost = answers.get("cost_usd")
    return {
        "seen": set(seen) == set(key["seen"])
        and all(_same(key["seen"][id_], str(said)) for id_, said in seen.items()),
        "decided": bool(decided) == bool(key["decided"]) and all(one in decided for one in key["decided"]),
        "unseen": sorted(map(str, answers.get("unseen") or [])) == sorted(key["unseen"])
        and "unseen" in answers,
        "cost_usd": isinstance(cost, int | float) and abs(cost - key["cost_usd"]) < _CENTS,
        "check": all(part in str(answers.get("check", "")) for part in key["check"]),
    }


def _same(right: str, said: str) -> bool:
    """Whether an answer names the right piece of evidence, with words around it or without."""
    return right in said or (bool(said) and said in right)


def main() -> None:
    """Ask, write the key, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run_folder", type=Path)
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("--key", type=Path)
    parser.add_argument("--answers", type=Path)
    given = parser.parse_args()
    with JournalReader(given.run_folder) as journal:
        key = key_of(fold(journal.read_for_views()))
    if given.ask:
        print(QUESTIONS)
    if given.key:
        given.key.write_text(json.dumps(key, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if given.answers:
        right = compared(key, json.loads(given.answers.read_text("utf-8")))
        score = sum(right.values())
        print(json.dumps({"score": score, "of": len(right), "enough": score >= ENOUGH, **right}))
        sys.exit(0 if score >= ENOUGH else 1)


if __name__ == "__main__":
    main()
