"""Runs one command in a process tree that ends with the parent, with the command, or on SIGTERM.

Started by path, with the standard library alone (see `agents.process.containment.contained`):

    python -I -S supervisor.py PARENT_PID WAY REPORT_FD|-|tell-end [LIMIT…] -- COMMAND [ARGUMENT…]

It makes a session of its own (a terminal's Ctrl-C does not reach the command), starts COMMAND with
its own standard streams, closes them, and waits. The tree is ended by SIGKILL when

- COMMAND exits: leftovers end too, and the exit code is COMMAND's (128 + n if signal n ended it),
- the process PARENT_PID has ended in any way, or
- SIGTERM, SIGINT or SIGHUP came, was forwarded to COMMAND, and `GRACE_S` passed.

Two ways (WAY) to reach the whole tree, setsid and nohup descendants included:

- namespaces: COMMAND runs in a PID namespace whose init is a fork of this program. The kernel ends the
  namespace with its init, the init with this program, and this program with PARENT_PID: none of our
  code has to run. Users other than root also get a user namespace that maps the user to itself. In it,
  sudo and other set-user-id programs have no effect, and files of other users have no known owner.
- supervisor: no privileges. This program is the subreaper of all descendants (orphans become its
  children) and kills those in /proc until no child is left. Out of reach: processes of
  another user (sudo), and any descendant but COMMAND if this program itself is killed by SIGKILL.

Outside Linux there is neither: COMMAND leads a process group and the group is killed. A descendant that
left the group (setsid) survives.

LIMIT is `processes=N` (with namespaces and Linux 6.14 the namespace's own limit, which holds for root too,
else RLIMIT_NPROC), `file=BYTES` (RLIMIT_FSIZE), `memory=BYTES`, or `cgroup=FOLDER` (the command and its
descendants join a new group in that control group, with these limits of processes and memory, until the end).
With any LIMIT the command gets a user namespace of its own, in which it has a small part of the objects that
the kernel counts for each user (`SHARE`).

A signal is forwarded through bubblewrap, which passes none on: the process inside gets it.

Exit codes of its own: 125 not set up or the parent is gone, 126 COMMAND cannot be run, 127 not found. The
reason goes to REPORT_FD, which distinguishes them from the same codes of COMMAND, or else to standard
error. At the end the processor time of the whole tree goes there too (`USED`). With `tell-end` the last line
of standard error reports the end of the tree and COMMAND's exit code.
"""

# Importing pathlib or contextlib would cost a good part of the start.
# ruff: noqa: PTH102, PTH106, PTH110, PTH123, PTH208, SIM105

from __future__ import annotations

import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # as typing's, without the milliseconds of importing it
if TYPE_CHECKING:
    from typing import NoReturn

GRACE_S = 2.0  # less than the five seconds between the Agent SDK's SIGTERM and SIGKILL
ENDING_LIMIT_S = 10.0  # processes left then are not ours to kill, or hang in the kernel
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.002, 0.05  # between two looks at the processes left
PARENT_POLL_MS = 100  # only where the kernel has no pidfd

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
EXIT_REFUSED, EXIT_CANNOT_RUN, EXIT_NOT_FOUND = 125, 126, 127

# linux/prctl.h, linux/sched.h, linux/mount.h
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_SLAVE = 0x2, 0x4, 0x8, 0x4000, 0x80000

STDERR = 2
TELL_END = "tell-end"
ENDED = "sq-supervisor: ended with exit code "  # read by `agents.process.containment.LastWords`
USED = "sq-supervisor: processor seconds "  # read by `agents.process.tree`
LINUX = sys.platform == "linux"
SANDBOX = b"bwrap"  # as /proc names it
RESERVED_PIDS = 301  # the kernel gives no smaller numbers to the second round of processes
OWN_PID_LIMIT = (6, 14)  # from this Linux on, the greatest process id belongs to the PID namespace
LIMITS = ("processes=", "file=", "memory=", "cgroup=")
# The most of what the kernel counts for each user, who usually has 128 groups and 65,536 or more of the rest.
SHARE = {
    "max_inotify_instances": 16,
    "max_inotify_watches": 16_384,
    "max_fanotify_groups": 16,
    "max_fanotify_marks": 16_384,
}
OF_USER = ("RLIMIT_SIGPENDING", "RLIMIT_MSGQUEUE")
PART = 8  # of these limits


class RefusedError(Exception):
    """The tree cannot be contained, so COMMAND was not started."""


class Mailbox:
    """The signals that came, in order. `wake` is readable if there are any."""

    __slots__ = ("wake",)

    def __init__(self) -> None:
        self.wake, write_end = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(write_end, False)
        # The interpreter writes the number of each signal that has a handler to this descriptor.
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        for number in (*FORWARDED, signal.SIGCHLD):
            signal.signal(number, lambda _number, _frame: None)

    def take(self) -> list[int]:
        """Empty the mailbox and return its signals, without SIGCHLD, which only wakes."""
        try:
            return [number for number in os.read(self.wake, 4096) if number != signal.SIGCHLD]
        except BlockingIOError:
            return []


class Lifeline:
    """Lets a child find out whether the process that forked it still lives, over PID namespaces as well."""

    __slots__ = ("_held", "_watched")

    def __init__(self) -> None:
        self._watched, self._held = os.pipe()

    def die_with_parent(self) -> None:
        """In the child: be killed with the parent, even if it died before the kernel was informed."""
        os.close(self._held)
        if LINUX:
            _libc("prctl", PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if select.select([self._watched], [], [], 0)[0]:
            os._exit(EXIT_REFUSED)


def main(arguments: list[str]) -> NoReturn:
    """Run the command line described above and exit. Never returns."""
    parent, way, report, *rest = arguments
    limits = [one for one in rest[: rest.index("--")] if one.startswith(LIMITS)] if "--" in rest else []
    separator, *command = rest[len(limits) :] or [""]
    report_fd = int(report) if report.isdecimal() else None
    # A descriptor of its own, which COMMAND does not inherit, because the streams will be closed.
    end_fd = os.dup(STDERR) if report == TELL_END else None
    if report_fd is not None:
        os.set_inheritable(report_fd, False)
    if separator != "--" or not command:
        _fail(
            report_fd,
            "usage: supervisor.py PARENT_PID WAY REPORT_FD|-|tell-end [LIMIT…] -- COMMAND…",
            EXIT_REFUSED,
        )
    try:
        groups = _limit(limits, namespaces=way == "namespaces")
        most = _most(limits, "processes=")
        try:
            code = _contain(int(parent), way == "namespaces", command, report_fd, most, groups, bool(limits))
        finally:
            _remove(groups)
    except (RefusedError, OSError) as error:
        _fail(report_fd, f"the command is not started: {error}", EXIT_REFUSED)
    if report_fd is not None:
        used = os.times()  # of all descendants that were waited for
        os.write(report_fd, f"{USED}{used.children_user + used.children_system:.2f}\n".encode())
    if end_fd is not None:
        _tell_end(end_fd, code)
    os._exit(code)


def _limit(limits: list[str], *, namespaces: bool) -> list[str]:
    """Limit this program and all that it starts, and return the new control groups for the command.

    Counts of processes are those of `_be_init` where it can.
    """
    import resource

    groups = []
    for name in OF_USER if LINUX and limits else ():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            resource.setrlimit(kind, (hard // PART, hard // PART))
    for one in limits:
        name, _, value = one.partition("=")
        if name == "file":
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(value), int(value)))
        elif name == "processes" and not (namespaces and has_own_pid_limit()):
            resource.setrlimit(resource.RLIMIT_NPROC, (int(value), int(value)))
        elif name == "cgroup":
            groups.append(_group(value, _most(limits, "processes="), _most(limits, "memory=")))
    return groups


def _group(parent: str, processes: int | None, memory: int | None) -> str:
    """Make a control group of this sandbox's own, and return its folder, or `parent` if it cannot be made."""
    folder = f"{parent}/{os.getpid()}"
    try:
        os.mkdir(folder)
    except OSError:
        return parent
    files = {"pids.max": processes, "memory.max": memory, "memory.limit_in_bytes": memory}
    for file, most in files.items():
        if most and os.path.exists(f"{folder}/{file}"):
            _write(f"{folder}/{file}", str(most))
    return folder


def _remove(groups: list[str]) -> None:
    for folder in groups:
        try:
            if folder.endswith(f"/{os.getpid()}"):  # and not the run's
                os.rmdir(folder)
        except OSError:
            pass


def _most(limits: list[str], name: str) -> int | None:
    return next((int(one.removeprefix(name)) for one in limits if one.startswith(name)), None)


def has_own_pid_limit() -> bool:
    """Whether a PID namespace has a greatest process id of its own. Before, it was one for the machine."""
    numbers = os.uname().release.split("-")[0].split(".")[:2]
    return LINUX and all(map(str.isdecimal, numbers)) and tuple(map(int, numbers)) >= OWN_PID_LIMIT


def _contain(
    parent: int,
    namespaces: bool,
    command: list[str],
    report_fd: int | None,
    processes: int | None,
    groups: list[str],
    limited: bool,
) -> int:
    if os.getpgrp() != os.getpid():  # a group's leader already has a group of its own and may not setsid
        os.setsid()
    mailbox = Mailbox()
    if namespaces:
        _enter_namespaces()
        _libc("prctl", PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if LINUX:
        _libc("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    parent_fd = _watch_parent(parent)
    lifeline = Lifeline()
    outer_pid = os.getpid()
    child = os.fork()
    if child == 0:
        lifeline.die_with_parent()
        try:
            for folder in groups:
                _write(f"{folder}/cgroup.procs", "0")
        except OSError as error:
            _fail(report_fd, f"the command is not started: {error}", EXIT_REFUSED)
        if namespaces:
            _be_init(command, report_fd, outer_pid, processes, limited)
        _become(command, report_fd, limited)
    try:
        _let_go_of_streams()
        return _supervise(parent, parent_fd, mailbox, child)
    finally:
        _end_tree(child)


def _watch_parent(parent: int) -> int | None:
    """Return a descriptor that becomes readable when the parent is gone, or None if polling is needed."""
    try:
        descriptor = os.pidfd_open(parent)
    except (AttributeError, OSError):  # not Linux, an old kernel, a seccomp profile, gone already
        descriptor = None
    if os.getppid() != parent:
        raise RefusedError(f"its parent should be process {parent} and is {os.getppid()}")
    return descriptor


def _supervise(parent: int, parent_fd: int | None, mailbox: Mailbox, child: int) -> int:
    """Wait until the tree has to end, forwarding signals, and return the exit code to end with."""
    poll = select.poll()
    poll.register(mailbox.wake, select.POLLIN)
    if parent_fd is not None:
        poll.register(parent_fd, select.POLLIN)
    deadline: float | None = None
    while True:
        ready = poll.poll(_patience_ms(deadline, polling=parent_fd is None))
        for number in mailbox.take():
            _forward(child, number)
            deadline = deadline or time.monotonic() + GRACE_S
        code = _reap(child)
        if code is not None:
            return code
        orphaned = any(fd == parent_fd for fd, _ in ready) or os.getppid() != parent
        if orphaned or (deadline is not None and time.monotonic() >= deadline):
            return 128 + signal.SIGKILL


def _forward(child: int, number: int) -> None:
    """Send a signal to the command. A sandbox around it would end instead of passing the signal on."""
    addressees = [child]
    while LINUX and any(_is_sandbox(pid) for pid in addressees):
        inner = [pid for pid in addressees if not _is_sandbox(pid)]
        inner += [below for pid in addressees if _is_sandbox(pid) for below in _children(pid)]
        if not inner:
            break
        addressees = inner
    for pid in addressees:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def _is_sandbox(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/comm", "rb") as name:
            return name.read().strip() == SANDBOX
    except OSError:
        return False


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as children:
            return [int(one) for one in children.read().split()]
    except OSError:
        return []


def _patience_ms(deadline: float | None, *, polling: bool) -> float | None:
    if polling:
        return PARENT_POLL_MS
    return None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000 + 1


def _reap(child: int) -> int | None:
    """Collect every child that has exited, and return the exit code of `child` if it is one of them."""
    code = None
    try:
        while (exited := os.waitpid(-1, os.WNOHANG))[0]:
            if exited[0] == child:
                returned = os.waitstatus_to_exitcode(exited[1])
                code = returned if returned >= 0 else 128 - returned
    except ChildProcessError:
        pass
    return code


def _end_tree(child: int) -> None:
    """Kill all descendants, repeatedly: one that forks meanwhile leaves an orphan, then our child."""
    if not LINUX:
        _kill(-child)
    give_up = time.monotonic() + ENDING_LIMIT_S
    pause = FIRST_PAUSE_S
    while _has_children() and time.monotonic() < give_up:
        for pid in _descendants(os.getpid()):
            _kill(pid)
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)


def _has_children() -> bool:
    _reap(0)
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _descendants(root: int) -> list[int]:
    """Return all processes below `root`, parents first (parents only know of their children on Linux)."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc") if LINUX else ()):
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                # "PID (NAME) STATE PARENT …", where NAME may hold anything, brackets included
                parent = int(stat.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue  # gone meanwhile
        children.setdefault(parent, []).append(int(name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _share() -> None:
    """Enter a user namespace that has its share of the user's objects. Where it cannot, doctor says so."""
    try:
        _enter_user_namespace(CLONE_NEWUSER)
        for name, most in SHARE.items():
            if os.path.exists(f"/proc/sys/user/{name}"):
                _write(f"/proc/sys/user/{name}", str(most))
    except OSError:
        pass


def _become(command: list[str], report_fd: int | None, limited: bool) -> NoReturn:
    """Turn into the command. Exec resets handled signals to their default action, but not ignored ones."""
    for number in IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    os.setpgid(0, 0)
    if limited and LINUX:
        _share()
    try:
        os.execvp(command[0], command)  # noqa: S606  replaces this process on purpose
    except FileNotFoundError as error:
        _fail(report_fd, f"{command[0]}: {error.strerror}", EXIT_NOT_FOUND)
    except OSError as error:
        _fail(report_fd, f"{command[0]}: {error.strerror}", EXIT_CANNOT_RUN)


def _fail(report_fd: int | None, reason: str, code: int) -> NoReturn:
    try:
        os.write(STDERR if report_fd is None else report_fd, f"{reason}\n".encode(errors="surrogateescape"))
    except OSError:
        pass
    os._exit(code)


def _tell_end(descriptor: int, code: int) -> None:
    """Write the last line, unless the pipe is full: then waiting for a reader could block."""
    try:
        if select.select([], [descriptor], [], 0)[1]:
            os.write(descriptor, f"\n{ENDED}{code}\n".encode())
    except OSError:
        pass


def _let_go_of_streams() -> None:
    """Hold no pipe open, so that readers of the command's output see its end."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def _enter_namespaces() -> None:
    """Make the next child the init of a PID namespace."""
    if os.geteuid() == 0:
        _libc("unshare", CLONE_NEWPID)
    else:
        _enter_user_namespace(CLONE_NEWUSER | CLONE_NEWPID)


def _enter_user_namespace(which: int) -> None:
    """Enter namespaces, of which the user's maps the user to itself."""
    user, group = os.geteuid(), os.getegid()
    _libc("unshare", which)
    # "deny" is the kernel's condition for mapping a group without privileges.
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _be_init(
    command: list[str], report_fd: int | None, outer_pid: int, processes: int | None, limited: bool
) -> NoReturn:
    """Be process 1 of the namespace: mount its /proc, start the command, collect orphans, pass signals on.

    The command gets the process id that the supervising process has outside. Claude Code names sockets and
    session files by its process id, and with ids of the namespace all of them would be process 2.
    """
    try:
        _libc("unshare", CLONE_NEWNS)
        _libc("mount", b"none", b"/", None, MS_REC | MS_SLAVE, None)  # later mounts come in, none goes out
        _libc("mount", b"proc", b"/proc", b"proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, None)
    except OSError as error:
        _fail(report_fd, f"the command is not started: {error}", EXIT_REFUSED)
    os.setsid()  # its old session is not visible in the namespace and would be shown as 0
    mailbox = Mailbox()
    try:
        _write("/proc/sys/kernel/ns_last_pid", str(outer_pid - 1))
    except OSError:
        pass  # a kernel without checkpoint and restore: the command is process 2
    child = os.fork()
    if child == 0:
        _become(command, report_fd, limited)
    if processes and has_own_pid_limit():
        try:
            _write("/proc/sys/kernel/pid_max", str(RESERVED_PIDS + processes))
        except OSError:
            pass  # not allowed in this namespace: doctor says which limits hold
    _let_go_of_streams()
    code = None
    while code is None:
        select.select([mailbox.wake], [], [])
        for number in mailbox.take():
            _forward(child, number)
        code = _reap(child)
    os._exit(code)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _libc(function: str, *arguments: int | bytes | None) -> None:
    """Call one function of the C library.

    Raises:
        OSError: the function failed.
    """
    import ctypes

    words = [ctypes.c_ulong(value) if isinstance(value, int) else value for value in arguments]
    if getattr(ctypes.CDLL(None, use_errno=True), function)(*words) == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{function}: {os.strerror(error)}")


if __name__ == "__main__":
    main(sys.argv[1:])
