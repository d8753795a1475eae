"""The two SDKs that sq needs, imported or refused; and the command that installs them or an extra here."""

import gc
import importlib
import shutil
import sys
import sysconfig
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from threading import Lock

from state.errors import UsageError

AGENT_SDK = "claude-agent-sdk"
API_SDK = "anthropic"
_PURPOSES = {AGENT_SDK: "sq drives Claude Code through it", API_SDK: "sq asks models through it"}
_SQ = "sq-orchestrator"
_DEV_LOCK = "requirements-dev.lock"
_IMPORTED: set[str] = set()
_ONE_AT_A_TIME = Lock()
_STAMP = ".sq-lock"  # bin/environment leaves it in an environment that it has made
_CHECKOUT = Path(__file__).parents[1]


class SdkError(UsageError):
    """An SDK cannot be used: `found` says why, `command` repairs it."""

    def __init__(self, package: str, *, error: Exception | None = None) -> None:
        """`error` is the error of its import, None if it is not installed."""
        self.command = install_command(package, this_place(), again=error is not None)
        if error is None:
            self.found, advice = f"{package} is not installed", "Install it with"
        else:
            why = f"{type(error).__name__}: {error}"
            self.found = f"{package} is installed and cannot be imported ({why})"
            advice = "Install it again with"
        super().__init__(f"{self.found}, and {_PURPOSES[package]}. {advice} `{self.command}`")


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonPlace:
    """The Python environment of sq. `managed`: the system manages it and makes pip refuse to install."""

    executable: str
    prefix: Path
    made_by_checkout: bool = False
    has_pip: bool = False
    has_uv: bool = False
    managed: bool = False


def import_sdks(*packages: str) -> None:
    """Import these SDKs, by default both.

    Raises:
        SdkError: one is not installed or cannot be imported. The message says how to install it here.
    """
    for package in packages or _PURPOSES:
        module = package.replace("-", "_")
        try:
            with _ONE_AT_A_TIME, _made_quickly():
                importlib.import_module(module)
            _IMPORTED.add(package)
        except Exception as error:
            missing = isinstance(error, ModuleNotFoundError) and error.name == module
            raise SdkError(package, error=None if missing else error) from error


def is_imported(package: str) -> bool:
    """Whether `import_sdks` has imported it. It may be half imported before."""
    return package in _IMPORTED


@contextmanager
def _made_quickly() -> Iterator[None]:
    """Collect no garbage meanwhile, because imports leave none, and build no model before it is used."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        with _models_later():
            yield
    finally:
        if was_on:
            gc.freeze()
            gc.enable()


@contextmanager
def _models_later() -> Iterator[None]:
    if find_spec("pydantic") is None:  # it comes with the SDKs, of which one may be missing
        yield
        return
    from pydantic import BaseModel

    config = BaseModel.model_config
    BaseModel.model_config = {**config, "defer_build": True}
    try:
        yield
    finally:
        BaseModel.model_config = config


def check_sdk(package: str) -> None:
    """Refuse a run that lacks an SDK, without the import, which takes long.

    Raises:
        SdkError: it is not installed.
    """
    if find_spec(package.replace("-", "_")) is None:
        raise SdkError(package)


def sdk_version() -> str:
    """Return the installed Agent SDK's version.

    Raises:
        SdkError: it is not installed. The message says how to install it.
    """
    try:
        if find_spec("claude_agent_sdk"):
            return version(AGENT_SDK)
    except PackageNotFoundError:
        pass
    raise SdkError(AGENT_SDK)


def install_command(package: str, place: PythonPlace, *, again: bool = False) -> str:
    """Return the command that installs a package where sq runs. `again`: even if it is installed."""
    if place.made_by_checkout:
        given = "" if place.prefix == _CHECKOUT / ".venv" else f"SQ_VENV={quote(str(place.prefix))} "
        stamp, environment = place.prefix / _STAMP, _CHECKOUT / "bin" / "environment"
        return f"rm -f {quote(str(stamp))} && {given}{quote(str(environment))}"
    return _install([requirement(package)], place, again=again)


def extra_command(extra: str, place: PythonPlace) -> str:
    """Return the command that installs an extra of sq where sq runs, in a checkout by its lock for tests."""
    if not place.made_by_checkout:
        return _install([f"{_SQ}[{extra}]"], place)
    project = tomllib.loads((_CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    return _install(["-c", str(_CHECKOUT / _DEV_LOCK), *project["optional-dependencies"][extra]], place)


def _install(wanted: Sequence[str], place: PythonPlace, *, again: bool = False) -> str:
    python, words = quote(place.executable), " ".join(map(quote, wanted))
    if place.has_uv and not place.has_pip:
        flags = "--reinstall " if again else ""
        return f"uv pip install --python {python} {flags}{words}"
    flags = "--force-reinstall " if again else ""
    flags += "--break-system-packages " if place.managed else ""
    install = f"{python} -m pip install {flags}{words}"
    return install if place.has_pip else f"{python} -m ensurepip && {install}"


def this_place() -> PythonPlace:
    """Return the environment of this process."""
    prefix = Path(sys.prefix)
    managed = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    return PythonPlace(
        executable=sys.executable,
        prefix=prefix,
        made_by_checkout=(prefix / _STAMP).is_file() and (_CHECKOUT / "bin" / "environment").is_file(),
        has_pip=find_spec("pip") is not None,
        has_uv=shutil.which("uv") is not None,
        managed=sys.prefix == sys.base_prefix and managed.is_file(),
    )


def requirement(package: str) -> str:
    """Return the package with the versions that sq works with, if sq's own metadata exist to name them."""
    try:
        wanted = requires(_SQ) or []
    except PackageNotFoundError:
        return package
    found = (one.partition(";")[0].strip() for one in wanted if one.startswith(package))
    return next(found, package)
