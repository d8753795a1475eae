"""A plan as a command line of bubblewrap.

Each option was tried with the real Claude Code. As root, `--proc /proc` leaves `/proc/sys` writable, where a
pattern for core dumps would run a program on the host: it is mounted again, read-only.
"""

from collections.abc import Iterator, Sequence

from agents.process.sandbox.needs import GatewaySocket, Network
from agents.process.sandbox.plan import Access, Mount, SandboxPlan

PROGRAM = "bwrap"
SOCAT = "socat"
SOCKET_INSIDE = "/run/sq-gateway.sock"
FAILED = f"{PROGRAM}: "  # begins the line in which it says why the sandbox could not be made
_ALWAYS = (
    *("--unshare-user", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--disable-userns", "--cap-drop", "ALL"),
    *("--new-session", "--die-with-parent"),
)
_MOST_IN_MEMORY = str(512 * 2**20)  # bytes of an empty folder, which lies in memory
_KERNEL = ("--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys")
# Waits for the relay, so that the first request cannot come before it listens. Without `nodelay` the end of
# each answer waits 40 ms.
_RELAY = """
socat TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,nodelay,fork,backlog=128 UNIX-CONNECT:{socket} \\
  </dev/null >/dev/null 2>&1 &
tries=0
until socat -u /dev/null TCP:127.0.0.1:{port},connect-timeout=1 2>/dev/null; do
  tries=$((tries + 1))
  [ $tries -lt 200 ] || {{ echo "bwrap: the relay to the model does not listen" >&2; exit 1; }}
  sleep 0.02
done
exec "$@"
"""


def bubblewrapped(argv: Sequence[str], plan: SandboxPlan) -> list[str]:
    """Return the command line that runs `argv` inside the sandbox of `plan`.

    The exit code is that of `argv`. If the sandbox cannot be made, it is 1 and the output begins with
    `FAILED`.
    """
    return [plan.program, *_options(plan), "--", *_inside(argv, plan)]


def _options(plan: SandboxPlan) -> Iterator[str]:
    yield from _ALWAYS
    if plan.own_processes:
        yield "--unshare-pid"
    if plan.network is not Network.FULL:
        yield "--unshare-net"
    for mount in plan.ordered():
        yield from _mount(mount)
    yield from _KERNEL
    if plan.gateway and plan.network is Network.GATEWAY:
        yield from ("--bind", str(plan.gateway.path), SOCKET_INSIDE)
    for name in plan.dropped:
        yield from ("--unsetenv", name)
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
    if plan.network is not Network.GATEWAY or plan.gateway is None:
        return [*argv]
    return ["/bin/sh", "-c", _relay(plan.gateway), "sq", *argv]


def _relay(gateway: GatewaySocket) -> str:
    return _RELAY.format(port=gateway.port, socket=SOCKET_INSIDE).strip()
