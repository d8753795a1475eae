"""Installs the stop gate into files of settings, removes it, and shows where it is installed and would run.

A file is restored to the byte if it was not edited. Its earlier content is kept in the user's state folder,
with a hash of the content that was written.
"""

import codecs
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Self

from agents.login import config_folder
from orchestrator.gates.session_state.diagnostics import safe_name
from orchestrator.gates.stop_gate.settings_text import (
    absolute_command,
    entry_of,
    gates_in,
    guarded_command,
    has_power_steering,
    is_ours,
    parsed,
    program_of,
    sq_on_path,
    with_gate,
    without_gate,
)
from state.atomic_files import (
    DamagedFileError,
    encoded,
    locked,
    read_json,
    read_small,
    replace_file,
    write_errors,
)
from state.decoding import decoded
from state.errors import UsageError


class Scope(StrEnum):
    """Whose sessions a file of settings is for."""

    USER = "user"
    PROJECT = "project"
    LOCAL = "local"


class Removal(StrEnum):
    """How removing the gate from a file ended."""

    NOT_THERE = "not there"  # nothing of ours was in it
    RESTORED = "restored"  # to the byte, or removed if it was made for the gate
    TAKEN_OUT = "taken out"  # it was edited since: all else stays


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A file before the gate was put into it. Stored as JSON.

    `original` is its text (None: there was no file), `made` are the folders that were made, the innermost
    first, and `written` is the hash of the bytes that were written.
    """

    original: str | None
    made: tuple[str, ...]
    written: str

    @classmethod
    def read(cls, record: Path) -> Self | None:
        """Read a record. Returns None if there is none or it cannot be used."""
        with suppress(DamagedFileError, ValueError):
            if found := read_json(record):
                return decoded(cls, found)
        return None


def settings_files(environ: Mapping[str, str], repository: Path | None) -> dict[Scope, Path]:
    """The files that Claude Code reads settings from, only the user's if there is no repository."""
    files = {Scope.USER: config_folder(environ) / "settings.json"}
    if repository:
        files[Scope.PROJECT] = repository / ".claude" / "settings.json"
        files[Scope.LOCAL] = repository / ".claude" / "settings.local.json"
    return files


def memory_folder() -> Path:
    """The folder that keeps the earlier content of files."""
    import platformdirs

    return platformdirs.user_state_path("sq", appauthor=False) / "hooks"


def install(file: Path, command: str, *, memory: Path) -> bool:
    """Put the gate into a file of settings, in the place of an older one. Returns False if nothing changes.

    A link is followed. The file keeps its mode and is replaced in one step.

    Raises:
        UsageError: the file cannot be used, and is not touched.
        WriteFailedError: it could not be written.
        LockTimeoutError: another sq is changing it.
    """
    if not is_ours(command):  # it would never be found again
        raise UsageError(f"{command!r} cannot stand in settings: install sq in a folder with a plain name")
    target, record = _target(file), _record(file, memory)
    with locked(record):
        old = read_settings(target)
        with _refusals(file):
            mark, text = _decoded(old or b"")
            new = mark + with_gate(text, entry_of(command)).encode()
            held = any(gates_in(parsed(text)))
        if new == old:
            return False
        known = Memory.read(record)
        if not (known and old is not None and known.written == _hash(old)):
            original = None if old is None else old.decode()
            known = None if held else Memory(original=original, made=_missing(target.parent), written="")
        if known:
            replace_file(record, encoded(asdict(replace(known, written=_hash(new)))))
        _write(target, new)
        return True


def uninstall(file: Path, *, memory: Path) -> Removal:
    """Remove the gate from a file of settings. Raises the same errors as `install`."""
    target, record = _target(file), _record(file, memory)
    with locked(record):
        old, known = read_settings(target), Memory.read(record)
        done = Removal.NOT_THERE
        if old is not None and known and known.written == _hash(old):
            done, new = Removal.RESTORED, None if known.original is None else known.original.encode()
        elif old is not None:
            with _refusals(file):
                new = _without(old, known)
            done = Removal.NOT_THERE if new == old else Removal.TAKEN_OUT
        if done is not Removal.NOT_THERE:
            _write(target, new) if new is not None else _remove(target, known.made if known else ())
        with write_errors(f"{record} cannot be removed"):
            record.unlink(missing_ok=True)
        return done


def read_settings(file: Path) -> bytes | None:
    """The bytes of a file of settings. None if there is none.

    Raises:
        UsageError: it cannot be read, or is not a file.
    """
    try:
        if file.exists() and not file.is_file():
            raise UsageError(f"{file} is no file, so it holds no settings")
        return read_small(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{file} is too large for settings: {error}") from error


def settings_in(file: Path) -> object:
    """The settings in a file, empty if there is none. Raises `UsageError` if it cannot be read."""
    data = read_settings(file) or b""
    with _refusals(file, "Claude Code cannot read it either"):
        return parsed(_decoded(data)[1])


@contextmanager
def _refusals(file: Path, what_then: str = "it was not touched. Correct it and try again") -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise UsageError(f"{file} cannot be used: {error}. {what_then}") from error


def _decoded(data: bytes) -> tuple[bytes, str]:
    """Split the data into the UTF-8 mark that some editors write first, and the text."""
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return mark, data[len(mark) :].decode()


def _without(old: bytes, known: Memory | None) -> bytes | None:
    """Settings without the gate. None if nothing is left and the file was made for it."""
    before: object = None
    if known and known.original:
        with suppress(ValueError):
            before = parsed(known.original.removeprefix("\ufeff"))
    mark, text = _decoded(old)
    left = without_gate(text, before)
    if known and known.original is None and left != text and parsed(left) == {}:
        return None
    return mark + left.encode()


def _target(file: Path) -> Path:
    """The file that links lead to: some people keep their settings in another folder."""
    return Path(os.path.realpath(file))


def _record(file: Path, memory: Path) -> Path:
    return memory / f"{safe_name(str(_target(file)))}.json"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _missing(folder: Path) -> tuple[str, ...]:
    return tuple(str(one) for one in (folder, *folder.parents) if not one.exists())


def _write(target: Path, data: bytes) -> None:
    with write_errors(f"{target} cannot be written"):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            mode = stat.S_IMODE(target.stat().st_mode)
        except FileNotFoundError:
            mode = 0o666 & ~_umask()
        replace_file(target, data)
        target.chmod(mode)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove(target: Path, made: tuple[str, ...]) -> None:
    with write_errors(f"{target} cannot be removed"):
        target.unlink()
    with suppress(OSError):  # it is in use by now
        for folder in made:
            Path(folder).rmdir()


RIVAL = "double-shot-latte"  # asks a whole Claude Code at every stop, and seed 003 replaces it
PLUGIN = "sq-stop-gate"  # our own, by the name in its manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class HookState:
    """The gate in the settings of one scope. `file` is None without a repository.

    `runs`: the program of the command is there. `up_to_date`: this sq would write the same hook now.
    """

    scope: Scope
    file: Path | None
    installed: bool = False
    command: str = ""
    timeout_s: object = None
    power_steering: bool = False
    runs: bool = False
    up_to_date: bool = False
    disables_all_hooks: bool = False
    rivals: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    problem: str = ""


def states(environ: Mapping[str, str], repository: Path | None, sq: Sequence[str]) -> list[HookState]:
    """The gate in each scope's settings. `sq` are the words that start the sq that runs now."""
    files = settings_files(environ, repository)
    return [_state(scope, files.get(scope), environ, sq) for scope in Scope]


def warnings_of(found: Sequence[HookState]) -> Iterator[str]:
    """Warnings for the gate's user, each with the remedy."""
    for one in found:
        yield from _warnings_of_one(one)
    if len(_own(found)) > 1 or len(_shared(found)) > 1:
        yield f"the gate runs more than once at a stop: {_places(found)}. `sq hooks uninstall` removes one"


def notes_of(found: Sequence[HookState]) -> Iterator[str]:
    """Notes that need no action."""
    if len(_own(found)) == len(_shared(found)) == 1:
        yield f"the gate is installed more than once and runs once a stop: {_places(found)}"


def _running(found: Sequence[HookState]) -> list[HookState]:
    return [one for one in found if one.installed and one.runs]


def _own(found: Sequence[HookState]) -> set[str]:
    """The commands for this machine. Claude Code runs equal ones once."""
    return {one.command for one in _running(found) if program_of(one.command) is not None}


def _shared(found: Sequence[HookState]) -> set[str]:
    """The hooks that others share: of the project, and of plugins."""
    plugins = {name for one in found for name in one.plugins}
    return plugins | {one.command for one in _running(found) if program_of(one.command) is None}


def _places(found: Sequence[HookState]) -> str:
    plugins = [f"the plugin {name}" for one in found for name in one.plugins]
    return ", ".join([*(str(one.scope) for one in _running(found)), *plugins])


def command_for(scope: Scope, sq: Sequence[str], *, power_steering: bool) -> str:
    """The command for a scope: a project's settings are shared, the others belong to this machine."""
    if scope is Scope.PROJECT:
        return guarded_command(power_steering=power_steering)
    return absolute_command(sq, power_steering=power_steering)


def _state(scope: Scope, file: Path | None, environ: Mapping[str, str], sq: Sequence[str]) -> HookState:
    if file is None:
        return HookState(scope=scope, file=None)
    try:
        settings = settings_in(file)
    except UsageError as error:
        return HookState(scope=scope, file=file, problem=str(error))
    gate = next(gates_in(settings), None)
    values = settings if isinstance(settings, dict) else {}
    enabled = values.get("enabledPlugins")
    names = [name for name, on in enabled.items() if on] if isinstance(enabled, dict) else []
    steering = gate is not None and has_power_steering(gate.command)
    wanted = entry_of(command_for(scope, sq, power_steering=steering))
    return HookState(
        scope=scope,
        file=file,
        installed=gate is not None,
        command=gate.command if gate else "",
        timeout_s=gate.entry.get("timeout") if gate else None,
        power_steering=steering,
        runs=gate is not None and _runs(gate.command, environ),
        up_to_date=gate is not None and {**gate.entry, **wanted} == gate.entry,
        disables_all_hooks=values.get("disableAllHooks") is True,
        rivals=tuple(name for name in names if name.partition("@")[0] == RIVAL),
        plugins=tuple(name for name in names if name.partition("@")[0] == PLUGIN),
    )


def _warnings_of_one(one: HookState) -> Iterator[str]:
    if one.problem:
        yield one.problem
    if one.disables_all_hooks:
        yield f"{one.file} has `disableAllHooks`: no hook runs, the stop gate neither"
    program = program_of(one.command)
    renew = f"`sq hooks install --scope {one.scope}{' --power-steering' if one.power_steering else ''}`"
    if one.installed and not one.runs and program is None:
        yield f"the gate in {one.file} does nothing here: the first `sq` on PATH, if any, is not this sq"
    elif one.installed and not one.runs:
        yield f"the gate in {one.file} cannot start {program}: it is gone. Renew it with {renew}"
    elif one.installed and not one.up_to_date:
        yield f"the gate in {one.file} is of another sq or an older form. Renew it with {renew}"
    for name in one.rivals:
        yield (
            f"the plugin {name} is enabled in {one.file}: it starts a whole Claude Code at every stop, and "
            f"the gate replaces it. Run `claude plugin disable {name}`"
        )


def _runs(command: str, environ: Mapping[str, str]) -> bool:
    program = program_of(command)
    if program is None:
        return sq_on_path(environ)
    from shutil import which

    return which(program, path=environ.get("PATH", os.defpath)) is not None
