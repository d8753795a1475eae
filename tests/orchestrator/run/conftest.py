"""Whole runs on the real SDK and the real CLI; only the model's words are written down."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from scripted import SPEC, Done, Rehearse

from orchestrator.cli.compose import RunRequest, Surroundings, run_new
from state.journal import JournalReader
from state.paths import StateFolder


@pytest.fixture
def rehearse(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Rehearse:
    """Run lanes of a scenario in the repository, in this process, and say what became of it."""

    def run(
        lanes: Mapping[str, Sequence[Mapping[str, Any]]],
        *,
        spec: str = SPEC,
        effort: str = "medium",
        verify: tuple[str, ...] = (),
        folder: Path | None = None,
    ) -> Done:
        scenario = tmp_path / "scenario.yaml"
        scenario.write_text(yaml.safe_dump({"scenario": 1, "description": "a test", "lanes": dict(lanes)}))
        spec_file = tmp_path / "spec.md"
        spec_file.write_text(spec)
        where = folder or repository
        request = RunRequest(spec=spec_file, folder=where, effort=effort, verify=verify, rehearse=scenario)
        outcome = run_new(request, Surroundings())
        run_folder = StateFolder(where / ".sq").find(None)
        with JournalReader(run_folder) as journal:
            return Done(outcome, run_folder, journal.read(), capsys.readouterr().out)

    return run
