"""The entry point of `sq`. Hooks are answered without importing the command line's libraries, to be quick."""

import gc
import sys


def main() -> None:
    """Answer `sq hook stop`. Every other command goes through the command group."""
    if sys.argv[1:3] == ["hook", "stop"] and not {"-h", "--help"}.intersection(sys.argv):
        from orchestrator.gates.stop_gate import entry

        entry.main()
    else:
        gc.disable()  # what is imported is not garbage. `main` and `run_new` let it collect again
        from orchestrator.cli import main as commands

        try:
            commands.main()
        finally:
            gc.freeze()  # else Python looks through all objects of the SDKs as it ends: half a second


if __name__ == "__main__":
    main()
