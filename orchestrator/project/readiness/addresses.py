"""Addresses in lock files and manifests that lead to this machine or its own network."""

import ipaddress
import re
import socket

_HOST = re.compile(
    r"(?:[a-z][\w+.-]*://(?:[^/@\s\"']*@)?|git@)(\[[0-9a-f:.]+(?:%\w+)?\]|[^\s/:\"'\]>,)]+)", re.IGNORECASE
)
_NAMES = ("localhost", ".localhost", ".local", ".internal", ".lan", ".home.arpa")


def private_addresses(text: str) -> set[str]:
    """Return the hosts in a text that are no public ones, by their address or their name."""
    return {host for host in _HOST.findall(text) if _is_private(host)}


def _is_private(host: str) -> bool:
    name = host.strip("[]").rstrip(".").partition("%")[0].lower()
    try:
        return not ipaddress.ip_address(socket.inet_aton(name)).is_global  # also `127.1` and `0x7f000001`
    except OSError:
        pass
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name.endswith(_NAMES) or "." not in name
    return not (getattr(address, "ipv4_mapped", None) or address).is_global
