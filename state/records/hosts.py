"""The use of hosts by processes in sandboxes, and the packages that came from them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUse:
    """The use of one host, a name with its port. `sent` and `received` are bytes.

    `refused` are the reasons of the `refusals`, each once.
    """

    host: str
    requests: int = 0
    sent: int = 0
    received: int = 0
    refusals: int = 0
    refused: tuple[str, ...] = ()

    def __add__(self, other: "HostUse") -> "HostUse":
        """Return both uses of the host together."""
        return HostUse(
            host=self.host,
            requests=self.requests + other.requests,
            sent=self.sent + other.sent,
            received=self.received + other.received,
            refusals=self.refusals + other.refusals,
            refused=tuple(dict.fromkeys((*self.refused, *other.refused))),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedPackage:
    """A package that the work adds. `licence` is what its registry says, or ""."""

    ecosystem: str
    name: str
    version: str
    licence: str = ""
