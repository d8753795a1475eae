"""Writes `written/`: sessions in Claude Code's format, from their short form, with their labels.

`python tests/labelled_sessions/writing.py` gives the same bytes each time. The short form is in
`written_sessions/`: the words in `vocabulary.py`, the format in `lines.py`, the sessions in the others.
"""

import shutil
from pathlib import Path

import yaml
from written_sessions import compiled, goals, hosting, python, stops, typescript, without_code

FOLDER = Path(__file__).parent / "written"
_MODULES = (python, typescript, compiled, goals, stops, hosting, without_code)


def all_sessions():
    """The sessions in short form, by name."""
    told = [session for module in _MODULES for session in module.SESSIONS]
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


def main():
    """Writes the folder anew."""
    files = written(all_sessions())
    if FOLDER.exists():
        shutil.rmtree(FOLDER)
    for path, text in files.items():
        place = FOLDER / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
