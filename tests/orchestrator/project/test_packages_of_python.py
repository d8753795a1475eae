"""The packages of an interpreter, by which results count as of the same environment or not."""

import os
from pathlib import Path

from orchestrator.project.readiness.environment import Interpreter


def test_caches_and_hidden_folders_change_nothing_and_another_version_does(tmp_path: Path) -> None:
    (tmp_path / "six-1.16.0.dist-info").mkdir()
    here = Interpreter(
        path="python3",
        version="3.11",
        prefix=tmp_path,
        names=frozenset(),
        roots=(),
        places=(),
        folders=(str(tmp_path), str(tmp_path / "gone")),
    )
    before = here.packages()
    for name in ("__pycache__", ".hypothesis"):
        (tmp_path / name).mkdir()
    assert here.packages() == before
    (tmp_path / "six-1.16.0.dist-info" / "RECORD").write_text("")  # as when it is installed again
    again = here.packages()
    assert again != before
    (tmp_path / "six.py").write_text("one = 1\n")
    with_module = here.packages()
    os.utime(tmp_path / "six.py", (1, 1))
    assert len({again, with_module, here.packages()}) == 3
    (tmp_path / "six-1.16.0.dist-info").rename(tmp_path / "six-1.17.0.dist-info")
    assert here.packages() != before
