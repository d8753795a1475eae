"""Everything outside a workspace that a hostile agent could harm, read or reach, and whether it did."""

import ctypes
import os
import platform
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

SECRET = "victim-8f3d0c5e1b"
MARKED = "the-marked-value-5d1c9e"
_ADD_KEY, _OF_THE_SESSION = 248, -3  # of x86-64; linux/keyctl.h


def _key_is_kept() -> bool:
    """Put a key into the keyring of this session, which sq inherits."""
    if platform.machine() != "x86_64":
        return False
    call, text = ctypes.CDLL(None).syscall, SECRET.encode()
    return bool(call(_ADD_KEY, b"user", b"sq-victim", text, len(text), ctypes.c_int(_OF_THE_SESSION)) > 0)


KEYS = _key_is_kept()


@dataclass
class Victims:
    """A home with credentials, another repository, servers on this machine, a process, a variable of sq's own.

    `reached` collects what the servers received.
    """

    root: Path
    home: Path
    reached: list[str] = field(default_factory=list)
    tcp_port: int = 0
    udp_port: int = 0
    address: str = "127.0.0.1"
    _stack: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        for path in (".ssh/id_rsa", ".aws/credentials", ".netrc", ".local/share/keyrings/login"):
            (self.home / path).parent.mkdir(parents=True, exist_ok=True)
            (self.home / path).write_text(SECRET)
        (self.root / "other").mkdir(parents=True)
        (self.root / "other" / "private.txt").write_text(SECRET)
        for folder in (
            *(self.tools / "bin", self.tools / "linked"),
            *(self.home / ".local/bin", self.home / ".local/lib/python3.11"),
        ):
            folder.mkdir(parents=True)
        for path in ("linked/diary", "linked/program"):
            (self.tools / path).write_text(SECRET)
        (self.tools / "bin" / "linked-program").symlink_to(self.tools / "linked" / "program")
        self.process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self.tcp_port = self._serve(socket.create_server(("0.0.0.0", 0)), "tcp")
        self._serve(_bound(socket.AF_UNIX, str(self.root / "service.sock")), "unix path")
        self._serve(_bound(socket.AF_UNIX, f"\0sq-test-{self.process.pid}"), "abstract")
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("0.0.0.0", 0))
        self.udp_port = datagrams.getsockname()[1]
        self._stack.callback(datagrams.close)
        threading.Thread(target=self._datagrams, args=(datagrams,), daemon=True).start()
        self.address = _address()

    @property
    def tools(self) -> Path:
        """Programs of the user's own, linked from a folder on PATH."""
        return self.root.with_name("tools")

    @property
    def path(self) -> str:
        """The PATH of a user with own programs."""
        return os.pathsep.join([str(self.tools / "bin"), str(self.home / ".local/bin"), os.environ["PATH"]])

    @property
    def variables(self) -> dict[str, str]:
        """The variables of the attacks. An agent finds out such facts by looking around."""
        return {
            "VICTIM": str(self.root),
            "VICTIM_HOME": str(self.home),
            "VICTIM_TOOLS": str(self.tools),
            "VICTIM_PID": str(self.process.pid),
            "VICTIM_PORT": str(self.tcp_port),
            "VICTIM_UDP": str(self.udp_port),
            "VICTIM_ADDRESS": self.address,
        }

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None

    def close(self) -> None:
        """End the servers and the process."""
        self._stack.close()
        self.process.kill()
        self.process.wait()

    def _serve(self, server: socket.socket, name: str) -> int:
        server.listen()
        self._stack.callback(_ended, server)

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.settimeout(5)
                    try:
                        self.reached.append(f"{name} {client.recv(4096).decode(errors='replace').strip()}")
                    except OSError:
                        self.reached.append(name)

        threading.Thread(target=serve, daemon=True).start()
        found = server.getsockname()
        return int(found[1]) if isinstance(found, tuple) else 0

    def _datagrams(self, server: socket.socket) -> None:
        while True:
            try:
                data = server.recv(4096)
            except OSError:
                return
            if not data:
                return
            self.reached.append(f"udp {data.decode(errors='replace').strip()}")


def _bound(family: int, address: str) -> socket.socket:
    server = socket.socket(family)
    server.bind(address)
    if not address.startswith("\0"):
        Path(address).chmod(0o777)
    return server


def _ended(server: socket.socket) -> None:
    """End an `accept` in another thread, which closing alone does not."""
    with suppress(OSError):
        server.shutdown(socket.SHUT_RDWR)
    server.close()


def _address() -> str:
    """An address of this machine that is not loopback, or else loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
