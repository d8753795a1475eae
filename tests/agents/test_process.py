"""A process tree is killed as a whole. Real processes throughout; each promise holds for both ways."""

import contextlib
import os
import random
import shlex
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import anyio
import claude_agent_sdk
import pytest

from agents.process.containment import Containment, LastWords, contained, detect_containment
from agents.process.launcher import write_launcher
from agents.process.tree import run_command
from state.errors import UsageError

PARENT = Path(__file__).with_name("process_parent.py")
PROMISED_S = 1  # "not alive one second later"
RACES = 20

# A shell, its background child and a grandchild that left session and hang-up behind: three sleepers.
FAMILY = "setsid nohup sleep 300 >/dev/null 2>&1 & sleep 300 & sleep 300"
SLEEPERS = 3

# The first line comes when the trap stands.
TIDY = "trap 'echo tidied; exit 5' TERM; setsid nohup sleep 300 & echo ready; while :; do sleep 0.05; done"
STUBBORN = "trap '' TERM; setsid nohup sleep 300 >/dev/null 2>&1 & echo ready; while :; do sleep 0.05; done"


@pytest.fixture(scope="session")
def namespaces_work():
    return detect_containment({}) is Containment.NAMESPACES


@pytest.fixture(params=list(Containment))
def way(request, namespaces_work):
    if request.param is Containment.NAMESPACES and not namespaces_work:
        pytest.skip("this system refuses to make a PID namespace")
    return request.param


class Family:
    """Finds the processes of one test by a variable that they inherit, in whatever namespace they are."""

    def __init__(self):
        self.mark = f"SQ_TEST_FAMILY={uuid.uuid4()}"
        self.env = {**os.environ, **dict([self.mark.split("=")])}

    def alive(self):
        return [pid for pid in _all_pids() if self._is_mine(pid)]

    def sleepers(self):
        return [pid for pid in self.alive() if _read(pid, "cmdline").startswith(b"sleep\x00300")]

    def _is_mine(self, pid):
        return self.mark.encode() in _read(pid, "environ").split(b"\0")


def _all_pids():
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _read(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def family():
    family = Family()
    yield family
    for pid in family.alive():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


async def until(condition, within=5.0):
    with anyio.fail_after(within):
        while not condition():
            await anyio.sleep(0.01)


async def gone(family):
    try:
        await until(lambda: not family.alive(), PROMISED_S)
    except TimeoutError:
        pytest.fail(f"alive: {[_read(pid, 'cmdline') for pid in family.alive()]}")


@contextlib.asynccontextmanager
async def running(argv, env, **options):
    """A process with its streams; killed at the end if it still runs."""
    async with await anyio.open_process(argv, env=env, **options) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


async def line(process):
    with anyio.fail_after(5):
        return (await process.stdout.receive()).decode()


async def ended(process):
    with anyio.fail_after(5):
        return await process.wait()


async def finished(argv, env=None, given=b"", **options):
    with anyio.fail_after(10):
        return await anyio.run_process(argv, env=env, input=given, check=False, **options)


def shell(script):
    return ["sh", "-c", script]


@pytest.mark.parametrize("blow", ["kill -9 alone", "kill -9 of its group", "default SIGTERM"])
async def test_nothing_is_alive_a_second_after_the_parent_died(way, family, blow):
    argv = [sys.executable, str(PARENT), way, *shell(FAMILY)]
    async with running(argv, family.env, start_new_session=True) as parent:
        await until(lambda: len(family.sleepers()) == SLEEPERS)
        match blow:
            case "kill -9 alone":
                os.kill(parent.pid, signal.SIGKILL)
            case "kill -9 of its group":
                os.killpg(parent.pid, signal.SIGKILL)
            case _:
                os.kill(parent.pid, signal.SIGTERM)
        await gone(family)


async def test_nothing_is_alive_when_the_parent_dies_at_any_moment_of_the_start(way):
    two_at_a_time = anyio.Semaphore(2)

    async def race(moment, kill):
        family = Family()
        argv = [sys.executable, str(PARENT), way, *shell(FAMILY)]
        async with two_at_a_time, running(argv, family.env, start_new_session=True) as parent:
            await line(parent)
            await anyio.sleep(moment)
            kill(parent.pid, signal.SIGKILL)
            await gone(family)

    chance = random.Random(7)  # noqa: S311  no secret
    async with anyio.create_task_group() as group:
        for _ in range(RACES):
            group.start_soon(race, chance.uniform(0, 0.12), chance.choice([os.kill, os.killpg]))


async def test_the_launcher_refuses_to_start_under_another_parent(way, family):
    argv = contained(shell("echo ran"), way, parent=1)
    result = await finished(argv, family.env)
    assert (result.returncode, result.stdout) == (125, b"")
    assert b"its parent should be process 1" in result.stderr


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)])
async def test_the_exit_code_comes_through(way, script, code):
    assert (await finished(contained(shell(script), way))).returncode == code


async def test_input_and_both_outputs_come_through(way):
    result = await finished(contained(shell("cat; echo problem >&2"), way), given=b"words" * 50_000)
    assert result.stdout == b"words" * 50_000
    assert result.stderr == b"problem\n"


async def test_leftovers_end_when_the_command_exits(way, family):
    result = await finished(contained(shell(f"{FAMILY} & exit 3"), way), family.env)
    assert result.returncode == 3
    assert family.alive() == []


async def test_the_tree_is_in_a_session_of_its_own_so_that_ctrl_c_does_not_reach_it(way, family):
    async with running(contained(shell(FAMILY), way), family.env) as launcher:
        await until(lambda: len(family.sleepers()) == SLEEPERS)
        sessions = {os.getsid(pid) for pid in family.alive()}
        assert launcher.pid in sessions
        assert os.getsid(0) not in sessions


async def test_sigterm_lets_the_command_tidy_up_and_then_ends_the_tree(way, family):
    async with running(contained(shell(TIDY), way), family.env) as launcher:
        assert await line(launcher) == "ready\n"
        launcher.terminate()
        assert await line(launcher) == "tidied\n"
        assert await ended(launcher) == 5
        assert family.alive() == []


async def test_sigterm_ends_a_tree_that_ignores_it(way, family):
    async with running(contained(shell(STUBBORN), way), family.env) as launcher:
        assert await line(launcher) == "ready\n"
        launcher.terminate()
        assert await ended(launcher) == 137
        assert family.alive() == []


async def test_sigint_reaches_the_command(way, family):
    script = "trap 'exit 6' INT; echo ready; while :; do sleep 0.05; done"
    async with running(contained(shell(script), way), family.env) as launcher:
        await line(launcher)
        launcher.send_signal(signal.SIGINT)
        assert await ended(launcher) == 6


async def test_the_command_ends_when_the_supervising_process_is_killed(way, family):
    async with running(contained(["sleep", "300"], way), family.env) as launcher:
        await until(family.sleepers)
        launcher.kill()
        await gone(family)


async def test_the_kernel_alone_ends_namespaces_with_the_parent(way, family):
    if way is not Containment.NAMESPACES:
        pytest.skip("the other way needs its supervising process to run")
    async with running([sys.executable, str(PARENT), way, *shell(FAMILY)], family.env) as parent:
        await until(lambda: len(family.sleepers()) == SLEEPERS)
        for pid in set(family.alive()) - {parent.pid, *family.sleepers()}:
            os.kill(pid, signal.SIGSTOP)
        parent.kill()
        await gone(family)


async def test_the_output_ends_when_the_command_closes_it_though_it_goes_on(way, family):
    async with running(contained(shell("exec >&- 2>&-; exec sleep 300"), way), family.env) as launcher:
        with anyio.fail_after(5), pytest.raises(anyio.EndOfStream):
            await launcher.stdout.receive()
        await until(family.sleepers)


async def test_commands_at_the_same_time_do_not_share_a_process_id(way, family):
    argv = contained(shell("echo $$; exec sleep 300"), way)
    async with running(argv, family.env) as one, running(argv, family.env) as other:
        assert await line(one) != await line(other)


async def test_the_launcher_drops_the_named_variables_and_keeps_arguments_as_they_are(way, tmp_path):
    folder = tmp_path / "it's a $folder"
    folder.mkdir()
    command = folder / "print all"
    command.write_text('#!/bin/sh\nprintf "%s|" "$@"; env\n')
    command.chmod(0o755)
    dropped = ["SECRET", "ODD-NAME", "NOT_SET", "a; touch pwned"]
    launcher = write_launcher(folder / "claude launcher", command, way, drop_env=dropped)
    environment = {**os.environ, "SECRET": "key-1", "ODD-NAME": "key-2", "KEPT": "kept"}
    result = await finished([launcher, "a b", '"$HOME"', ""], environment, cwd=folder)
    assert result.stdout.startswith(b'a b|"$HOME"||')
    assert b"KEPT=kept" in result.stdout
    assert b"key-" not in result.stdout
    assert launcher.stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in folder.iterdir()) == ["claude launcher", "print all"]


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("printf words >&2; exit 7", 7), ("exec >&- 2>&-; exit 1", 1)]
)
async def test_the_launchers_last_line_says_how_the_command_ended(way, tmp_path, script, code):
    command = tmp_path / "command"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    result = await finished([write_launcher(tmp_path / "launcher", command, way)])
    assert result.returncode == code
    words = LastWords()
    for text in filter(None, result.stderr.decode().split("\n")):
        words.hear(text)
    assert words.exit_code == code
    assert words.ended.is_set()
    assert str(words) == (" (it said: words)" if "words" in script else "")


def test_a_launcher_whose_words_nobody_reads_ends_all_the_same(way, tmp_path):
    command = tmp_path / "command"
    command.write_text("#!/bin/sh\nhead -c 65536 /dev/zero >&2\nexit 3\n")
    command.chmod(0o755)
    argv = [write_launcher(tmp_path / "launcher", command, way)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE) as launcher:
        assert launcher.wait(timeout=10) == 3


def test_of_many_words_the_newest_are_kept_and_one_that_only_looks_like_the_end_is_a_word():
    words = LastWords()
    for number in range(30):
        words.hear(f"line {number}")
    words.hear("sq-supervisor: ended with exit code unknown")
    assert "line 10 " not in str(words)
    assert str(words).endswith("line 29 | sq-supervisor: ended with exit code unknown)")
    assert words.exit_code is None


async def test_the_real_cli_answers_through_the_launcher(way, tmp_path):
    cli = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    result = await finished([write_launcher(tmp_path / "launcher", cli, way), "--version"])
    assert result.returncode == 0
    assert b"Claude Code" in result.stdout


@pytest.fixture
def run(way, family, tmp_path):
    async def run(command, **options):
        with anyio.fail_after(10):
            wanted = {"cwd": tmp_path, "env": family.env, "deadline_s": 8.0, "containment": way, **options}
            return await run_command(command, **wanted)

    return run


async def test_a_command_gives_its_exit_code_and_both_outputs_merged(run, tmp_path):
    result = await run(shell("pwd; echo problem >&2; cat; exit 4"))
    assert (result.exit_code, result.timed_out, result.started, result.error) == (4, False, True, "")
    assert result.output == f"{tmp_path}\nproblem\n"
    assert result.duration_s > 0


async def test_at_the_deadline_the_whole_tree_ends_and_the_output_is_kept(run, family):
    result = await run(shell(TIDY), deadline_s=0.4)
    assert (result.exit_code, result.timed_out, result.started) == (None, True, True)
    assert result.output == "ready\ntidied\n"
    assert family.alive() == []


async def test_a_command_that_ignores_sigterm_ends_after_its_deadline(run, family):
    assert (await run(shell(STUBBORN), deadline_s=0.4)).timed_out
    assert family.alive() == []


async def test_cancellation_ends_the_whole_tree(run, family):
    async with anyio.create_task_group() as group:
        group.start_soon(run, shell(FAMILY))
        await until(lambda: len(family.sleepers()) == SLEEPERS)
        group.cancel_scope.cancel()
    assert family.alive() == []


async def test_of_a_long_output_the_end_is_kept_below_a_line_that_counts_the_rest(run):
    script = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done"
    whole = "".join(f"line {number}\n" for number in range(3000))
    result = await run(shell(script), output_limit=100)
    assert result.output == f"[{len(whole) - 100} bytes left out]\n{whole[-100:]}"


async def test_output_is_not_cut_within_a_character_and_bad_bytes_are_replaced(run):
    assert (await run(shell("printf 'aäb'"), output_limit=2)).output == "[3 bytes left out]\nb"
    assert (await run(shell(r"printf 'a\377b'"))).output == "a\ufffdb"


@pytest.mark.parametrize(
    ("command", "reason"),
    [(["./sq-no-such-command"], "No such file"), (["/"], "Permission denied"), (["a\0b"], "null byte")],
)
async def test_a_command_that_cannot_be_started_is_told_with_the_reason(run, command, reason):
    result = await run(command)
    assert (result.exit_code, result.started, result.timed_out) == (None, False, False)
    assert reason in result.error
    assert result.output == ""


async def test_a_folder_that_is_not_there_is_told_with_the_reason(run, tmp_path):
    result = await run(["true"], cwd=tmp_path / "absent")
    assert not result.started
    assert "absent" in result.error


async def test_a_command_that_itself_exits_127_did_start(run):
    result = await run(shell("sq-no-such-command"))
    assert (result.exit_code, result.started, result.error) == (127, True, "")


async def test_a_daemon_that_holds_the_output_open_does_not_delay_the_result(run, family):
    result = await run(shell("setsid nohup sleep 300 & echo done"), deadline_s=300)
    assert (result.exit_code, result.output.splitlines()[-1]) == (0, "done")
    assert family.alive() == []


async def test_a_command_that_closed_its_output_is_waited_for(run):
    assert (await run(shell("exec >&- 2>&-; sleep 0.2; exit 9"))).exit_code == 9


def test_the_environment_can_force_a_way():
    for way in Containment:
        assert detect_containment({"SQ_CONTAINMENT": str(way)}) is way


def test_an_unknown_way_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="namespaces, supervisor"):
        detect_containment({"SQ_CONTAINMENT": "jail"})


def test_a_system_that_refuses_namespaces_gets_the_supervisor(namespaces_work):
    if not namespaces_work or os.geteuid() != 0:
        pytest.skip("needs root to take the right to make namespaces away")
    script = "from agents.process.containment import detect_containment; print(detect_containment({}))"
    # Without capabilities root may neither make namespaces nor map users as a plain user does.
    without_rights = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    command = [*without_rights, sys.executable, "-c", script]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PARENT.parents[2])
    assert answer.stdout.strip() == Containment.SUPERVISOR, shlex.join(command)
