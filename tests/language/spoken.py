"""Bytes as a client in a sandbox sends them to sq's proxy, and inside TLS to a registry behind it."""

import socket
import ssl
from pathlib import Path

from language.registry import REGISTRY


def spoken(path: Path, outer: bytes, inner: bytes = b"", authority: str = "") -> bytes:
    """Send bytes to the proxy, then others inside TLS if it connects, and return its last answer."""
    with socket.socket(socket.AF_UNIX) as plain:
        plain.settimeout(10)
        plain.connect(str(path))
        plain.sendall(outer)
        said = plain.recv(65_536)
        if not inner or b" 200 " not in said:
            return said
        context = (
            ssl.create_default_context(cadata=authority) if authority else ssl._create_unverified_context()  # noqa: S323
        )
        with context.wrap_socket(plain, server_hostname=REGISTRY) as line:
            line.sendall(inner)
            said = b""
            while data := line.recv(65_536):
                said += data
                if b"\r\n\r\n" in said and (length := _length(said)) is not None and len(said) >= length:
                    break
            return said


def _length(said: bytes) -> int | None:
    head, _, _ = said.partition(b"\r\n\r\n")
    found = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return len(head) + 4 + int(found[0].split(b":")[1]) if found else None
