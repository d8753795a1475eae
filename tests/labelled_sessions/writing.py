"""Writes `written/` and `unseen/`: sessions in Claude Code's format, from their short form, with labels.

`python tests/labelled_sessions/writing.py` gives the same bytes each time. The short form is in
`written_sessions/`: the words in `vocabulary.py`, the format in `lines.py`, the sessions in the others. Those
of `unseen.py` are kept apart, to see whether what was made with the others holds for new ones.
"""

import shutil
from pathlib import Path

import yaml
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
    files = {}
    for name, session in sessions.items():
        lines = session.written()
        files[f"{name}.jsonl"] = lines.text
        files[f"{name}.yaml"] = yaml.safe_dump(
            session.label(sessions), sort_keys=False, width=110, allow_unicode=True
        )
        for agent_id, agent in lines.agents.items():
            files[f"{name}/subagents/agent-{agent_id}.jsonl"] = agent.text
    return files


def write_folder(folder, modules):
    """Writes `folder` anew with the sessions of `modules`."""
    files = written(all_sessions(modules))
    if folder.exists():
        shutil.rmtree(folder)
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")


def main():
    """Writes both folders anew."""
    write_folder(FOLDER, _MODULES)
    write_folder(UNSEEN, (unseen,))


if __name__ == "__main__":
    main()
