"""A PostgreSQL server of the test's own, in a temporary folder, stopped and started as a fault needs it."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

USER = "nobody"  # the server refuses root


def programs() -> Path | None:
    """The folder of the server's programs: the newest of Debian's, or where PATH has them."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: int(one.parts[4]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def missing() -> str:
    """Why no server can be started here, or ""."""
    if programs() is None:
        return "PostgreSQL is not installed (.ci/install-tools does that)"
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        return "PostgreSQL refuses root, and setpriv is not here"
    return ""


class PostgresServer:
    """A server on a loopback port, with one database."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._bin = folder, programs()
        self.port = _free_port()
        self.url = f"postgresql://fleet@127.0.0.1:{self.port}/postgres"

    def make(self, *, durable: bool) -> None:
        self._call("initdb", "--auth=trust", "--username=fleet", "--no-sync", "--encoding=UTF8", "--locale=C")
        settings = (
            f"fsync = {'on' if durable else 'off'}",
            "unix_socket_directories = ''",
            "max_connections = 100",
        )
        with (self._folder / "postgresql.conf").open("a") as file:
            file.write("\n".join([*settings, f"port = {self.port}", "listen_addresses = '127.0.0.1'", ""]))

    def start(self) -> None:
        self._call("pg_ctl", "start", "--wait", "--silent", f"--log={self._folder}/log")

    def stop(self, mode: str = "immediate") -> None:
        self._call("pg_ctl", "stop", "--wait", "--silent", "--mode", mode)

    def query(self, text: str) -> str:
        """What psql prints for a query, without headers."""
        command = [f"{self._bin}/psql", "--no-psqlrc", "--tuples-only", "--no-align", self.url, "-c", text]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def pgbench(self, *arguments: str) -> str:
        """What the server's own benchmark prints."""
        command = [f"{self._bin}/pgbench", *arguments, self.url]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def dump(self, url: str) -> str:
        """All that lies in a database, as text."""
        return subprocess.run(
            [f"{self._bin}/pg_dump", url], capture_output=True, text=True, check=True
        ).stdout

    def new_database(self, name: str) -> str:
        """The address of a new, empty database."""
        self.query(f"CREATE DATABASE {name}")
        return f"{self.url.rpartition('/')[0]}/{name}"

    def _call(self, program: str, *arguments: str) -> None:
        as_user = ["setpriv", f"--reuid={USER}", "--clear-groups", "--"] if os.geteuid() == 0 else []
        done = subprocess.run(
            [*as_user, f"{self._bin}/{program}", f"--pgdata={self._folder}", *arguments],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"{program}: {done.stderr}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def postgres(*, durable: bool = False) -> Iterator[PostgresServer]:
    """Provide a server that has started, and leave nothing of it behind. `durable`: it waits for the disk."""
    folder = Path(mkdtemp(prefix="sq-pg-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        server = PostgresServer(folder)
        server.make(durable=durable)
        server.start()
        try:
            yield server
        finally:
            if (folder / "postmaster.pid").exists():
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
