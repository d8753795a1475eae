"""The addresses and headers of notices and telemetry: taken out of the environment before an agent works.

They are secrets of the user like the API key. Only sq uses them, and the run knows their values as secrets.
"""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from agents.session.sdks import extra_command, this_place
from orchestrator.notices.sending import is_address
from orchestrator.telemetry.conventions import read_headers
from state.errors import UsageError
from state.settings.integrations import Integrations, NoticeTarget, Telemetry


def check_addresses(outward: Integrations, environ: Mapping[str, str]) -> None:
    """Check that notices can be sent and spans exported.

    Raises:
        UsageError: a variable is not set or of no use, or an extra is missing. Names every problem.
    """
    if problems := list(problems_of(outward, environ)):
        raise UsageError("\n".join(problems))


def problems_of(outward: Integrations, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield why notices could not be sent, or spans not exported, each with its remedy."""
    by_url = [target for target in outward.notify if target.variable]
    if by_url and not _is_there("apprise"):
        yield _missing("notify", "Apprise, which sends notices to an address")
    for target in by_url:
        if problem := _address_problem(target, environ):
            yield problem
    if outward.telemetry.otlp:
        if not (_is_there("opentelemetry.sdk") and _is_there("opentelemetry.exporter.otlp.proto.http")):
            yield _missing("otel", "OpenTelemetry's SDK and exporter, which telemetry needs")
        if problem := _headers_problem(outward.telemetry, environ):
            yield problem


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package around it
        return False


def _missing(extra: str, part: str) -> str:
    return f"{part}, is not installed. Install it with `{extra_command(extra, this_place())}`"


def _address_problem(target: NoticeTarget, environ: Mapping[str, str]) -> str:
    name = target.variable
    value = environ.get(name, "").strip()
    if not value:
        return f"notify: {name} is not set. Set it to an address that Apprise knows, or remove the table"
    if not _is_there("apprise"):
        return ""
    if is_address(value):
        return ""
    return f"notify: {name} holds no address that Apprise knows. Correct it, for instance ntfy://TOPIC"


def _headers_problem(telemetry: Telemetry, environ: Mapping[str, str]) -> str:
    name = telemetry.variable
    if not name:
        return ""
    value = environ.get(name, "").strip()
    if not value:
        return f"telemetry.headers: {name} is not set. Set it to name=value, or remove the key"
    return "" if read_headers(value) else f"telemetry.headers: {name} needs the form name=value,name=value"


def notes_on(outward: Integrations) -> list[str]:
    """Return a line for each target of notices, and one for the collector: they lie outside any sandbox."""
    lines = [
        f"notices ({', '.join(one.on)}) are sent by " + (f"`{one.command}`" if one.command else one.url)
        for one in outward.notify
    ]
    telemetry = outward.telemetry.traces_url
    return [*lines, *([f"spans are sent to {telemetry}"] if telemetry else [])]
