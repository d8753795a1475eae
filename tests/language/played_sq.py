"""`sq` as a process that plays Claude Code: the same arguments, folder, environment, output and exit code.

A command without a session imports no SDK, as the real one.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.session.port import Agent
    from state.roles import Role

PLAYED_SQ = [sys.executable, "-I", str(Path(__file__).absolute())]

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))

    from orchestrator.cli.main import main

    def choose(role: "Role", usual: "Agent") -> "Agent":
        from language.scripted_agent import played

        return played(role, usual)

    main(choose)
