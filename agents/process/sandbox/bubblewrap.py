"""A plan as a command line of bubblewrap.

Each option was tried with the real Claude Code. As root, `--proc /proc` leaves `/proc/sys` writable, where a
pattern for core dumps would run a program on the host: it is mounted again, read-only.
"""

from collections.abc import Iterator, Sequence

from agents.process.sandbox.needs import Network
from agents.process.sandbox.plan import Access, Mount, SandboxPlan

PROGRAM = "bwrap"
SOCAT = "socat"
_SOCKET_INSIDE = "/run/sq-{}.sock"
FAILED = f"{PROGRAM}: "  # begins the line in which it says why the sandbox could not be made
_ALWAYS = (
    *("--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--disable-userns", "--cap-drop", "ALL"),
    *("--new-session", "--die-with-parent"),
)
_FILTERED = ("/bin/sh", "-c", 'filter=$1; shift; exec "$@" 9<"$filter"', "sq")
_MOST_IN_MEMORY = str(512 * 2**20)  # bytes of an empty folder, which lies in memory
_KERNEL = (
    *("--dev", "/dev", "--size", _MOST_IN_MEMORY, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
    *("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"),
)
# All relays are started, then each is waited for, so that the first request cannot come before. Nothing
# connects for that, because a service may count it as an error. Without `nodelay` answers end 40 ms later.
_RELAY = r"""
relay() {
  socat TCP-LISTEN:$1,bind=127.0.0.1,reuseaddr,nodelay,fork,backlog=128 UNIX-CONNECT:$2 \
    </dev/null >/dev/null 2>&1 &
}
listens() {
  line=":$(printf %04X $1) 00000000:0000 0A "
  tries=0
  until grep -q "$line" /proc/net/tcp; do
    tries=$((tries + 1))
    [ $tries -lt 800 ] || { echo "bwrap: the relay of port $1 does not listen" >&2; exit 1; }
    sleep 0.005
  done
}
"""


def bubblewrapped(argv: Sequence[str], plan: SandboxPlan) -> list[str]:
    """Return the command line that runs `argv` inside the sandbox of `plan`.

    The exit code is that of `argv`. If the sandbox cannot be made, it is 1 and the output begins with
    `FAILED`.
    """
    begin = [*_FILTERED, str(plan.filter), plan.program, "--seccomp", "9"]
    return [*begin, *_options(plan), "--", *_inside(argv, plan)]


def _options(plan: SandboxPlan) -> Iterator[str]:
    yield from _ALWAYS
    if plan.own_processes:
        yield "--unshare-pid"
    if plan.network is not Network.FULL:
        yield "--unshare-net"
    for mount in plan.ordered():
        yield from _mount(mount)
    yield from _KERNEL
    for number, socket in enumerate(plan.sockets):
        yield from ("--bind", str(socket.path), _SOCKET_INSIDE.format(number))
    yield from ("--remount-ro", "/")  # what is written beside the mounts is refused, and not lost
    for name in plan.dropped:
        yield from ("--unsetenv", name)
    for name, value in plan.variables.items():
        yield from ("--setenv", name, value)
    yield from ("--chdir", str(plan.workspace))


def _mount(mount: Mount) -> tuple[str, ...]:
    target = str(mount.target)
    match mount.access:
        case Access.READ:
            return ("--ro-bind", str(mount.shown), target)
        case Access.WRITE:
            return ("--bind", str(mount.shown), target)
        case Access.LINK:
            return ("--symlink", str(mount.shown), target)
        case Access.EMPTY:
            in_memory = ("--size", _MOST_IN_MEMORY, "--tmpfs", target)
            return ("--ro-bind", str(mount.source), target) if mount.source else in_memory


def _inside(argv: Sequence[str], plan: SandboxPlan) -> list[str]:
    if not plan.sockets:
        return [*argv]
    ports = [
        f"relay {socket.port} {_SOCKET_INSIDE.format(number)}" for number, socket in enumerate(plan.sockets)
    ]
    waits = [f"listens {socket.port}" for socket in plan.sockets]
    return ["/bin/sh", "-c", "\n".join((_RELAY.strip(), *ports, *waits, 'exec "$@"')), "sq", *argv]
