"""`sq verify`: what the checks say of any work."""

import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orchestrator.cli.runs import flags
from orchestrator.views.screen import cell, say, say_json

if TYPE_CHECKING:
    from orchestrator.verify.records import Asked, Tried
    from state.journal.events import Stored
    from state.journal.view import RunView

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("verify", short_help="Ask whether a work is shown to be right.")
@click.argument("commits", metavar="[BASE..HEAD]", required=False, default="")
@click.option("--worktree", is_flag=True, help="Ask about the files as they are, committed or not.")
@click.option(
    "--pr", "request", type=click.IntRange(min=1), help="Fetch this pull request, and ask about it."
)
@click.option("--spec", metavar="FILE", default="", help="The words that asked for the work, as at the base.")
@click.option(
    "--base-setup",
    is_flag=True,
    help="Set up by the lock files and manifests of the base alone; nothing that the work adds is installed.",
)
@flags.settings(verify="CMD", sandbox="", effort="NAME")
@click.option(
    "--within",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Ask no further question after so many seconds of commands.",
)
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="NAME",
    help="Let an objection go, as long as the files that it is about stay the same (repeatable).",
)
@click.option("--anew", is_flag=True, help="Ask again, although the result of the same work is kept.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, nothing else there.")
@click.option("--report", type=_FILE, help="Write the report as HTML.")
@click.option("--sarif", type=_FILE, help="Write SARIF 2.1.0, for code scanning.")
@click.option("--summary", type=_FILE, help="Append Markdown, for the summary of a CI's job.")
@click.option("--bundle", type=_FILE, help="Write the evidence as one file that can be checked elsewhere.")
@click.option(
    "--sign",
    metavar="KEY",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Sign the bundle with this SSH key.",
)
@click.option(
    "--check", type=_FILE, help="Check a bundle: its signature, its trees, and all of it again here."
)
@click.option(
    "--signers", type=_FILE, help="Who may sign, as git has it (default: gpg.ssh.allowedSignersFile)."
)
def command(
    commits: str,
    worktree: bool,
    request: int | None,
    spec: str,
    base_setup: bool,
    within: float | None,
    accepted: tuple[str, ...],
    anew: bool,
    as_json: bool,
    report: Path | None,
    sarif: Path | None,
    summary: Path | None,
    bundle: Path | None,
    sign: Path | None,
    check: Path | None,
    signers: Path | None,
    **asked: Any,  # noqa: ANN401  the values of the options, by their names
) -> int:
    """Ask the questions of `docs/verify.md` about commits, by the project's own commands in a sandbox.

    Without a range it is all that HEAD has beyond the upstream or the default branch. No model is asked, and
    nothing is changed. Settings are read from the base, which the work cannot change.

    Exit code 0: nothing speaks against the work, and a test needs it. 1: something speaks against it. 5: it
    could not be shown.
    """
    from orchestrator.verify.records import Asked
    from state.errors import SqError, UsageError

    if sum((bool(request), worktree, ".." in commits)) > 1:
        raise click.UsageError("a range, --worktree and --pr name three different works: give one of them")
    if sign and not bundle:
        raise click.UsageError("--sign signs a bundle: add --bundle FILE")
    given = flags.flags_of(asked)
    if within is not None:
        given["limits.verify_total_s"] = ("--within", within)
    wanted = Asked(
        folder=Path.cwd(),
        given=commits,
        worktree=worktree,
        request=request or 0,
        spec=spec,
        base_setup=base_setup,
        flags=given,
        accepted=dict.fromkeys(accepted, "the command line"),
        anew=anew,
    )
    if check:
        from orchestrator.cli.verify.again import checked

        return checked(check, wanted, signers, run=partial(_run, is_quiet=True), as_json=as_json)
    try:
        done = _run(wanted, as_json=as_json)
    except UsageError:
        raise
    except SqError as error:  # which says nothing of the work
        return _failed(str(error), as_json=as_json)
    _write(done, report=report, sarif=sarif, summary=summary)
    if bundle:
        from orchestrator.cli.verify.again import write_bundle

        write_bundle(done, bundle, sign)
    return done.judgement.outcome.exit_code


def _failed(why: str, *, as_json: bool) -> int:
    """Say that nothing could be found out, and return the exit code for that."""
    from orchestrator.verify.formats import SCHEMA
    from state.outcome import Outcome

    code = Outcome.UNVERIFIED.exit_code
    say(f"sq: {why}", error=True)
    if as_json:
        end = {"schema": SCHEMA, "outcome": str(Outcome.UNVERIFIED), "exit_code": code}
        say_json({**end, "says": f"sq failed: {why}", "objections": [], "proofs": [], "changed_files": 0})
    return code


def _run(asked: "Asked", *, as_json: bool = False, is_quiet: bool = False) -> "Tried":
    """Ask the checks, show it while it goes on, and show the result."""
    import anyio

    from orchestrator.cli.runs.begin import collect_again
    from orchestrator.cli.runs.request import RunEnvironment
    from orchestrator.cli.verify.trying import tried
    from orchestrator.verify.formats import as_data
    from orchestrator.verify.words import folder_line, result_lines

    collect_again()
    shown = _Shown(is_quiet=as_json or is_quiet)
    done = anyio.run(tried, asked, RunEnvironment(), shown.hear)
    shown.clear()
    if as_json:
        say_json(as_data(done.work, done.view, done.judgement))
    elif not is_quiet:
        kept = " (the result of an earlier call: --anew asks again)" if done.is_kept else ""
        say(*result_lines(done.view, done.judgement), folder_line(done.folder) + kept)
    return done


class _Shown:
    """Shows a verification: a line for each thing that was found, and on a terminal what is done now."""

    def __init__(self, *, is_quiet: bool) -> None:
        from orchestrator.verify.words import Progress

        self._quiet = is_quiet
        self._live = not is_quiet and sys.stderr.isatty()
        self._progress = Progress()

    def hear(self, stored: "Stored", view: "RunView") -> None:
        """Take an event."""
        if self._quiet:
            return
        lines = list(self._progress.lines(stored, view))
        if lines:
            self.clear()
            say(*lines)
        if self._live:
            self.clear()
            sys.stderr.write(cell(self._progress.now)[: _columns() - 1])
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line of the present away."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _columns() -> int:
    return shutil.get_terminal_size().columns


def _write(done: "Tried", *, report: Path | None, sarif: Path | None, summary: Path | None) -> None:
    """Write the files that were asked for."""
    import json

    from orchestrator.cli.version import sq_version
    from orchestrator.verify import formats, words

    if sarif:
        _to(sarif, json.dumps(formats.sarif(done.work, done.judgement, sq_version()), indent=1) + "\n")
    if summary:
        before = summary.read_text("utf-8") if summary.exists() else ""
        _to(summary, before + words.summary(done.work, done.view, done.judgement))
    if report:
        import anyio

        from orchestrator.views.report.rendering import Format, read_for_report, rendered

        read = anyio.run(read_for_report, done.folder)
        _to(report, rendered(read, Format.HTML, version=sq_version()))


def _to(file: Path, text: str) -> None:
    from state.errors import UsageError

    try:
        file.write_text(text, "utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}. Name another file") from error
