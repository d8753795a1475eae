"""`sq dash`: a page in the browser that follows the runs of this repository."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.views.screen import say
from state.loopback import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.views.page.serving import PageAddress
    from orchestrator.views.page.sessions import Sessions
    from state.paths import StateFolder


@click.command("dash", short_help="Follow the runs of this repository in a browser.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port (default: 0, any that is free). An open page finds a new server on the same port.",
)
@click.option("--open", "open_", is_flag=True, help="Open the page in a browser.")
@click.option(
    "--host",
    default=LOOPBACK,
    show_default=True,
    help="The address to listen on. Another one than that of this machine needs --allow-host.",
)
@click.option(
    "--allow-host",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="A name by which browsers call this machine. Repeatable.",
)
@click.option(
    "--control",
    is_flag=True,
    help="The page may also speak to runs, with a token of its own.",
)
@click.option("--fleet", is_flag=True, help="The runs of a fleet on all hosts, as far as they are pushed.")
@options.state_dir
def command(
    run: str | None,
    port: int,
    open_: bool,
    host: str,
    allowed: tuple[str, ...],
    control: bool,
    fleet: bool,
    state_dir: Path | None,
) -> int:
    """Serve a page on which every run of this repository is followed live, until Ctrl-C.

    Without --control the page only reads. Its address holds a token that is good once: open it in one
    browser. RUN is an id, or an unambiguous beginning or end of one, and the page begins with it.
    """
    import ipaddress

    from orchestrator.views.page.serving import PageAddress

    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise click.UsageError(f"--host {host} is not an address such as 127.0.0.1 or 192.168.1.20") from None
    if not is_loopback and not allowed:
        raise click.UsageError(
            f"--host {host} lets other machines read your runs. Name with --allow-host how they call this one"
        )
    place = PageAddress(host=host, port=port, allowed=allowed)
    if not fleet:
        folder = options.state_folder_of(state_dir)
        _show(folder, run, options.again(state_dir), place, open_=open_, control=control)
        return 0
    if state_dir or control:
        raise click.UsageError("--fleet shows the runs of other hosts: leave --state-dir and --control out")
    from orchestrator.cli.fleet.control import followed_runs

    with followed_runs() as folder:
        _show(folder, run, "", place, open_=open_, control=False)
    return 0


def _show(
    folder: Path, run: str | None, again: str, place: "PageAddress", *, open_: bool, control: bool
) -> None:
    import anyio

    from orchestrator.views.page.sessions import Sessions, sessions_file
    from state.paths import StateFolder

    state = StateFolder(folder)
    path = f"/run/{state.find(run).name}" if run else "/"
    file = sessions_file(state.root)
    sessions = Sessions(file.with_name(f"control-{file.name}") if control else file)
    with TemporaryDirectory(prefix="sq-") as private:
        opened = Path(private) / "dash.html" if open_ else None
        ready = partial(_ready, f"{path}?t={sessions.token}", opened)
        anyio.run(_serve, state, again, place, sessions, ready, control)


def _ready(path: str, opened: Path | None, address: str) -> None:
    """Say the address, and open it by a file: a browser's arguments can be read by everybody here."""
    say(f"{address}{path}", "This address is good once. Ctrl-C ends the page, and no run with it.")
    if opened:
        opened.touch(0o600)
        opened.write_text(f'<!doctype html><meta http-equiv="refresh" content="0;url={address}{path}">\n')
        click.launch(str(opened))


async def _serve(
    state: "StateFolder",
    again: str,
    place: "PageAddress",
    sessions: "Sessions",
    ready: "Callable[[str], object]",
    control: bool,
) -> None:
    import signal

    import anyio

    from agents.concurrency import task_group
    from orchestrator.views.page.runs import runs_of
    from orchestrator.views.page.serving import serve
    from orchestrator.views.page.sessions import Control
    from orchestrator.views.page.site import Site

    until = anyio.Event()

    async def wait_for_signal() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                until.set()
                return

    async with task_group() as tasks, runs_of(state, again) as runs:
        tasks.start_soon(wait_for_signal)
        site = Site(runs, _report, Control() if control else None)
        await serve(site.app(), runs, place, sessions, ready, until, controls=control)
        tasks.cancel_scope.cancel()


async def _report(folder: Path) -> str:
    """Return the report of a run as `sq report` writes it. A thread makes it, and streams go on."""
    import anyio

    return await anyio.to_thread.run_sync(anyio.run, _made_report, folder)


async def _made_report(folder: Path) -> str:
    from orchestrator.cli.version import sq_version
    from orchestrator.views.report.rendering import Format, read_for_report, rendered

    return rendered(await read_for_report(folder), Format.HTML, version=sq_version())
