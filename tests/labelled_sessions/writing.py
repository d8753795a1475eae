"""Writes `written/`, `unseen/` and the blind rounds: sessions in Claude Code's format, from their short form, with labels.

`python tests/labelled_sessions/writing.py` gives the same bytes each time. The short form is in
`written_sessions/`: the words in `vocabulary.py`, the format in `lines.py`, the sessions in the others. Those
of `unseen.py` are kept apart, to see whether what was made with the others holds for new ones. A blind round has a
folder of modules there, with the labels of its two readers beside them (`labelling.py`).
"""

import importlib
import shutil
import sys
from pathlib import Path

import yaml
from labelling import ROUNDS, agreed
from written_sessions import compiled, goals, hosting, python, stops, typescript, unseen, without_code

FOLDER = Path(__file__).parent / "written"
UNSEEN = Path(__file__).parent / "unseen"
_MODULES = (python, typescript, compiled, goals, stops, hosting, without_code)


def all_sessions(modules=_MODULES):
    """The sessions of `modules` in short form, by name."""
    told = [session for module in modules for session in module.SESSIONS]
    sessions = {session.name: session for session in told}
    if len(sessions) < len(told):
        raise ValueError("two sessions have the same name")
    return sessions


def written(sessions):
    """The files of all sessions, by their path in the folder."""
    return _files(sessions, {name: session.label(sessions) for name, session in sessions.items()})


def blind_rounds():
    """The names of the rounds: each has a folder in `written_sessions`."""
    return sorted(folder.name for folder in ROUNDS.glob("blind*"))


def round_written(round_):
    """The files of a blind round; sessions on which its readers disagree are left out."""
    sessions, (labels, left_out) = _sessions_of(ROUNDS / round_), agreed(ROUNDS / round_)
    if odd := sorted(sessions.keys() ^ (labels.keys() | left_out.keys())):
        raise ValueError(f"{round_}: only a module or only a reader has these sessions: {', '.join(odd)}")
    return _files(
        {name: sessions[name] for name in labels},
        {name: {"about": sessions[name].about, **label} for name, label in labels.items()},
    )


def _sessions_of(folder):
    """The sessions of all modules in a folder, which import each other by their bare names."""
    sys.path.insert(0, str(folder))
    sessions = {}
    for module in sorted(folder.glob("*.py")):
        for session in getattr(importlib.import_module(module.stem), "SESSIONS", ()):
            if sessions.setdefault(session.name, session) is not session:
                raise ValueError(f"two sessions of {folder.name} have the name {session.name}")
    return sessions


def _files(sessions, labels):
    files = {}
    for name, session in sessions.items():
        lines = session.written()
        files[f"{name}.jsonl"] = lines.text
        files[f"{name}.yaml"] = yaml.safe_dump(labels[name], sort_keys=False, width=110, allow_unicode=True)
        for agent_id, agent in lines.agents.items():
            files[f"{name}/subagents/agent-{agent_id}.jsonl"] = agent.text
    return files


def write_folder(folder, files):
    """Writes `folder` anew with `files`."""
    if folder.exists():
        shutil.rmtree(folder)
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")


def main():
    """Writes all folders anew."""
    write_folder(FOLDER, written(all_sessions()))
    write_folder(UNSEEN, written(all_sessions((unseen,))))
    for round_ in blind_rounds():
        write_folder(FOLDER.parent / round_, round_written(round_))


if __name__ == "__main__":
    main()
