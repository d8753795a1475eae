"""Who holds how many connections of a door: each peer has a share, so one peer cannot take them all.

A connection is silent until its request is there. A silent one has a deadline, and gives way to others. Peers
are sandboxes, users of this machine and other machines. sq's own user is held to no share of its own.
"""

import ipaddress
import os
import socket
import struct
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path

_UID_AT = 7  # in a line of /proc/net/tcp
_CREDENTIALS = struct.Struct("3i")  # of a peer: its process, user and group
OWN = ("user", os.getuid())


class Place:
    """One connection. `drop` ends it when it gives way."""

    def __init__(self, peer: Hashable, drop: Callable[[], object]) -> None:
        self.peer, self.drop, self.is_silent = peer, drop, True


class Places:
    """The places of a door: so many at most, so many of `each` peer, and seconds to say what one wants."""

    def __init__(self, *, most: int, each: int, head_s: float = 10.0) -> None:
        self.head_s = head_s
        self._most, self._each = most, each
        self._held: dict[Place, None] = {}  # the oldest first

    def take(self, peer: Hashable, drop: Callable[[], object]) -> Place | None:
        """Return a place, None if there is none.

        A peer with all its places gives up its oldest silent one. If all are taken, the peer with the most
        gives up one, also a busy one if it has more than the new one would.
        """
        counts = Counter(one.peer for one in self._held)
        if counts[peer] >= self._each and peer != OWN:
            leaving = self._oldest(peer, busy=False)
        elif len(self._held) >= self._most:
            largest = max(counts, key=lambda one: counts[one])
            leaving = self._oldest(largest, busy=False) or self._oldest(
                largest, busy=counts[largest] > counts[peer] + 1
            )
        else:
            leaving = Place(peer, lambda: None)
        if leaving is None:
            return None
        self.leave(leaving)
        leaving.drop()
        place = Place(peer, drop)
        self._held[place] = None
        return place

    def leave(self, place: Place) -> None:
        """Give a place back."""
        self._held.pop(place, None)

    def _oldest(self, peer: Hashable, *, busy: bool) -> Place | None:
        return next((one for one in self._held if one.peer == peer and (busy or one.is_silent)), None)


def peer_of(connection: socket.socket) -> Hashable:
    """Return who is at the other end: a sandbox by its network, a user here, or another machine."""
    try:
        if connection.family == socket.AF_UNIX:
            data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            pid, uid, _ = _CREDENTIALS.unpack(data)
            network, own = (os.stat(f"/proc/{one}/ns/net").st_ino for one in (pid, "self"))  # noqa: PTH116
            return ("user", uid) if network == own else ("sandbox", network)
        host, port = connection.getpeername()[:2]
        return ("user", _user_at(host, port)) if ipaddress.ip_address(host).is_loopback else ("at", host)
    except (OSError, ValueError, LookupError, AttributeError):  # it has ended, or another system
        return "unknown"


def _user_at(host: str, port: int) -> int:
    """Return the user whose socket has an address of this machine, as the kernel lists them."""
    packed = ipaddress.ip_address(host).packed
    words = b"".join(packed[at : at + 4][::-1] for at in range(0, len(packed), 4))
    wanted = f"{words.hex()}:{port:04x}".upper()
    table = Path("/proc/net/tcp6" if ":" in host else "/proc/net/tcp").read_text("ascii")
    found = table.index(f": {wanted} ")
    return int(table[found : table.index("\n", found)].split()[_UID_AT])
