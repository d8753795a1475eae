"""Merges the labels of two readers who read the sessions of a blind round independently.

`python tests/labelled_sessions/labelling.py ROUND` counts what the readers of a round (such as blind1) agree on
and names the sessions that are left out. `writing.py` writes the agreed labels.
"""

import sys
from pathlib import Path

import yaml

ROUNDS = Path(__file__).parent / "written_sessions"
_CONSIDERATIONS = Path(__file__).parents[2] / "orchestrator/gates/power_steering/considerations.yaml"


def agreed(folder):
    """The labels of the round in `folder` by session, without `about`, and by session why it is left out."""
    first, second = (_read(folder / f"labels_{name}.yaml") for name in ("first", "second"))
    blockers = {one["id"] for one in _read(_CONSIDERATIONS) if one["severity"] == "blocker"}
    labels, left_out = {}, {}
    for name in sorted(first.keys() | second.keys()):
        one, other = first.get(name), second.get(name)
        if why := _why_left_out(one, other, blockers):
            left_out[name] = why
        else:
            labels[name] = _merged(one, other)
    return labels, left_out


def _why_left_out(one, other, blockers):
    """The readers disagree on whether the session is good, on all its blockers, or on `announced`."""
    if one is None or other is None:
        return "one reader gave no label"
    unmet = [set(label.get("unmet") or {}) & blockers for label in (one, other)]
    if bool(one.get("announced")) != bool(other.get("announced")):
        return "one reader sees an announced step, the other none"
    if any(unmet) and not unmet[0] & unmet[1]:
        return f"no blocker in common: {sorted(unmet[0])} and {sorted(unmet[1])}"
    return ""


def _merged(one, other):
    """What both readers say; a consideration that only one of them calls unmet is disputed."""
    first, second = one.get("unmet") or {}, other.get("unmet") or {}
    label = {
        "session_type": one["session_type"],
        "unmet": {
            id_: {
                "visible_to_rules": bool(first[id_]["visible"] and second[id_]["visible"]),
                "why": first[id_]["why"],
            }
            for id_ in sorted(first.keys() & second.keys())
        },
    }
    if one.get("announced"):
        label["announced"] = True
    if disputed := sorted(first.keys() ^ second.keys()):
        label["disputed"] = disputed
    return label


def _read(file):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def main():
    """Prints the counts of a round."""
    labels, left_out = agreed(ROUNDS / sys.argv[1])
    announced = sum(label.get("announced", False) for label in labels.values())
    disputed = sum(len(label.get("disputed", ())) for label in labels.values())
    lines = [
        f"{len(labels)} agreed, {announced} announced, {disputed} labels disputed, {len(left_out)} left out"
    ]
    lines += [f"  {name}: {why}" for name, why in left_out.items()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
