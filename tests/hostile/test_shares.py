"""What the kernel counts for a user, or locks for everybody: an agent gets a share, and holds up nobody."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hostile_runs import make_repository
from language.tables import table

from agents.process.containment import Containment, contained, detect_containment
from agents.process.sandbox.bubblewrap import PROGRAM, bubblewrapped
from agents.process.sandbox.choice import Choice, SandboxLevel
from agents.process.sandbox.control_groups import control_groups, not_limited
from agents.process.sandbox.needs import Needs
from agents.process.sandbox.policy import SandboxPolicy
from state.settings.records import SandboxLimits

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(not shutil.which(PROGRAM), reason="bubblewrap is not installed"),
]
TAKES, HONEST = table(__file__, "takes"), table(__file__, "honest")
MOST = {"lease": 0, "inotify": 16, "fanotify": 16, "device": 0}
GETS = {"lease": 1, "inotify": 17, "fanotify": 17, "device": 1}  # at least, without a sandbox


@pytest.fixture
def policy(tmp_path: Path) -> SandboxPolicy:
    (tmp_path / "home" / ".cache" / "pip").mkdir(parents=True)
    return SandboxPolicy(
        choice=Choice(level=SandboxLevel.WHOLE, reason="test", program=shutil.which(PROGRAM) or ""),
        environ=os.environ,
        own_processes=detect_containment() is not Containment.NAMESPACES,
        home=tmp_path / "home",
        programs=(Path(sys.executable),),
        ceilings=SandboxLimits(processes=200),
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


def argv_of(policy: SandboxPolicy, workspace: Path, program: str, *arguments: Path) -> list[str]:
    needs = Needs(workspace=workspace, scratch=workspace.parent / "scratch", path=os.environ["PATH"])
    plan = policy.plan(needs)
    inside = bubblewrapped(["python3", "-c", program, *map(str, arguments)], plan)
    return contained(inside, detect_containment(), limits=plan.limits)


def taken(argv: Sequence[str]) -> int:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    found = dict(line.split() for line in done.stdout.splitlines())
    assert "taken" in found, done.stderr
    return int(found["taken"])


@pytest.mark.parametrize("what", MOST)
def test_an_agent_gets_its_share_and_no_lease(policy: SandboxPolicy, repository: Path, what: str) -> None:
    file = repository / ".git" / "HEAD"
    assert taken(argv_of(policy, repository, TAKES[what], file)) <= MOST[what]
    if what == "device" and os.geteuid() != 0:
        return  # a plain user may not write in /dev
    assert taken([sys.executable, "-c", TAKES[what], str(file)]) >= GETS[what]


@pytest.mark.parametrize("place", [".cache/pip/.lock", ".git/gc.pid"])
def test_a_lock_in_the_sandbox_holds_up_nobody_outside(
    policy: SandboxPolicy, repository: Path, place: str
) -> None:
    import fcntl

    file = (policy.home if place.startswith(".cache") else repository) / place
    file.touch()

    def is_held(argv: Sequence[str]) -> bool:
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout
            lines = [holder.stdout.readline() for _ in range(2)]
            assert lines == ["taken 1\n", "held 1\n"]
            try:
                with file.open() as own:
                    fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:
                holder.communicate("")
        return False

    assert not is_held(argv_of(policy, repository, TAKES["lock"], file))
    assert is_held([sys.executable, "-c", TAKES["lock"], str(file)])


def test_honest_work_locks_shares_memory_and_watches(policy: SandboxPolicy, repository: Path) -> None:
    assert taken(argv_of(policy, repository, HONEST)) == 1


@pytest.mark.parametrize("folder", ["/dev/shm", "/dev"])
def test_what_lies_in_memory_is_bounded(policy: SandboxPolicy, repository: Path, folder: str) -> None:
    most = 512 if folder == "/dev/shm" else 0
    program = (
        "import os, sys; of = os.statvfs(sys.argv[1]); "
        "print('taken', of.f_blocks * of.f_frsize >> 20 if os.access(sys.argv[1], os.W_OK) else 0)"
    )
    assert taken(argv_of(policy, repository, program, Path(folder))) <= most


def test_each_sandbox_has_control_groups_of_its_own_that_go_with_it(
    policy: SandboxPolicy, repository: Path
) -> None:
    from dataclasses import replace

    with control_groups(f"shares-{os.getpid()}", SandboxLimits(processes=200)) as groups:
        if not groups.folders:
            pytest.skip("no control group can be made here")
        inside = replace(policy, groups=groups)
        program = "import time; print('taken', 1); print('held', 1, flush=True); input()"
        argv = argv_of(inside, repository, program)
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
            assert first.stdout
            assert first.stdout.readline() == "taken 1\n"
            for folder in groups.folders:
                (own,) = [one for one in folder.iterdir() if one.is_dir()]
                assert len((own / "cgroup.procs").read_text().split()) >= 2
                limits = [
                    one for one in ("pids.max", "memory.limit_in_bytes", "memory.max") if (own / one).exists()
                ]
                assert all(
                    (own / one).read_text().strip() not in {"max", "9223372036854771712"} for one in limits
                )
            first.communicate("\n")
        assert [one for folder in groups.folders for one in folder.iterdir() if one.is_dir()] == []


def test_memory_is_bounded_without_a_setting_or_the_first_lines_say_that_it_is_not() -> None:
    with control_groups(f"memory-{os.getpid()}", SandboxLimits()) as groups:
        if "memory" not in groups.limits:
            assert "nothing limits its memory" in not_limited(SandboxLimits())[0]
            return
        assert not_limited(SandboxLimits()) == []
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        assert 0 < groups.memory_each < machine / 2
