"""`python -m orchestrator.cli`: what `bin/sq` runs."""

from orchestrator.cli.main import main

if __name__ == "__main__":
    main()
