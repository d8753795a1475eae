"""Where a spec comes from: a file, standard input, or an issue, whose text is kept beside the runs."""

import hashlib
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from state.atomic_files import replace_file
from state.errors import UsageError
from state.redaction.known import Known

_STDIN = "-"
_ISSUE = "gh:"
_FOLDER = "specs"  # in the state folder
_LONGEST = 2_000_000  # bytes from standard input


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFound:
    """A spec as a file. `issue`: where its text is from, as `OWNER/REPO#N`. `notes` say what was left out."""

    file: Path
    issue: str = ""
    notes: tuple[str, ...] = ()
    known: tuple[Known, ...] = ()


def taken_over(given: str, state: Path) -> SpecFound:
    """Return the spec that was named. A text that is no file is written below the state folder.

    Raises:
        UsageError: standard input is a terminal or too long, or the issue cannot be read.
    """
    if given == _STDIN:
        return SpecFound(file=kept_spec(state, "stdin", _from_stdin()))
    if given.startswith((_ISSUE, "https://", "http://")):
        import anyio

        return anyio.run(_from_issue, given, state)
    return SpecFound(file=Path(given).absolute())


def _from_stdin() -> bytes:
    if sys.stdin.isatty():
        raise UsageError("--spec - reads standard input, which is a terminal here: pipe the spec into it")
    data = sys.stdin.buffer.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        raise UsageError(f"--spec -: more than {_LONGEST:,} bytes came. A spec is a text that people read")
    return data


async def _from_issue(given: str, state: Path) -> SpecFound:
    from orchestrator.cli.version import sq_version
    from orchestrator.git.repository import find_repository
    from orchestrator.hosting.github import GitHub
    from orchestrator.hosting.issue_spec import spec_of
    from orchestrator.hosting.remote import api_address, find_remote, numbered, take_token
    from orchestrator.hosting.service import Service

    checkout, here = Path.cwd(), None
    with suppress(UsageError):  # `sq fleet submit` needs no checkout
        repository = await find_repository(checkout)
        checkout = repository.root
        here = (await find_remote(checkout, repository.branch, os.environ)).repository
    named = numbered(given, here)
    address = api_address(named.repository.host, os.environ)
    token = take_token(named.repository.host)
    async with Service.at(address, token, agent=f"sq/{sq_version()}") as service:
        github = GitHub(service=service, repository=named.repository)
        spec = await spec_of(github, named, checkout, is_here=named.repository == here)
    file = kept_spec(
        state, f"{named.repository.owner}-{named.repository.name}-{named.number}", spec.text.encode()
    )
    return SpecFound(file=file, issue=str(named), notes=spec.notes, known=token.known)


def kept_spec(state: Path, name: str, data: bytes) -> Path:
    """Keep a text as a file whose name follows from its content, so that no earlier run's spec changes."""
    folder = state / _FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / f"{name}-{hashlib.sha256(data).hexdigest()[:8]}.md"
    replace_file(file, data, sync=False)
    return file
