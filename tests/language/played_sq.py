"""`sq` as a process that plays Claude Code: the same arguments, folder, environment, output and exit code."""

import sys
from pathlib import Path

PLAYED_SQ = [sys.executable, "-I", str(Path(__file__).absolute())]

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))

    from language.scripted_claude import ScriptedClaude
    from orchestrator.cli.main import main

    main(ScriptedClaude)
