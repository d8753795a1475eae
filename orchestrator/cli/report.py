"""`sq report`: the report of a run, as a file to open or in a format for other programs."""

from pathlib import Path

import click

from orchestrator.cli import options
from orchestrator.views.screen import say, say_document
from state.hidden import visible

_STDOUT = "-"
_FORMATS = ("html", "md", "pr", "summary", "junit", "sarif", "intoto", "json")


@click.command("report", short_help="Write the report of a run: a file to open, or a format for a CI.")
@click.argument("run", required=False, shell_complete=options.complete_runs)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write to this file, or with `-` to stdout (default: for html a file in the run's folder, else "
    "stdout).",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    default="html",
    help="html (the default), md, pr (the body of a pull request), summary (of a CI's job), junit, sarif, "
    "intoto, or json.",
)
@click.option("--paths", is_flag=True, help="Leave paths of this machine in the texts.")
@click.option(
    "--since",
    metavar="RUN2",
    shell_complete=options.complete_runs,
    help="Show an earlier run beside it, in html, md and json.",
)
@click.option(
    "--from-commits",
    "ref",
    metavar="REF",
    help="Show which commits meet which criterion, from the commits that REF reaches alone.",
)
@options.state_dir
def command(
    run: str | None,
    output: Path | None,
    format_: str,
    paths: bool,
    since: str | None,
    ref: str | None,
    state_dir: Path | None,
) -> int:
    """Write the report of RUN (default: the newest).

    It says whether the run did as the spec asks and by which evidence, what was decided without you, where to
    look yourself, what it cost and how to check it. The html is one file without scripts that loads nothing.
    RUN is an id, or an unambiguous beginning or end of one.
    """
    import anyio

    from orchestrator.cli.version import sq_version
    from orchestrator.views.report.rendering import COMPARING, Format, read_for_report, rendered

    if ref is not None:
        return _from_commits(ref, options.state_folder_of(state_dir) / "runs")
    wanted = Format(format_)
    if since and wanted not in COMPARING:
        raise click.UsageError(f"--since works with {', '.join(sorted(COMPARING))}, and not with {wanted}")
    folder = options.run_folder_of(run, state_dir)
    before = options.run_folder_of(since, state_dir) if since else None
    earlier = anyio.run(read_for_report, before) if before else None
    read = anyio.run(read_for_report, folder)
    text = rendered(read, wanted, version=sq_version(), with_paths=paths, earlier=earlier)
    if str(output) == _STDOUT or (output is None and wanted is not Format.HTML):
        say_document(text)
        return 0
    file = output or folder / "report.html"
    _write(file, text)
    say(f"report: {file}")
    return 0


def _from_commits(ref: str, runs: Path) -> int:
    """Print the criteria of each run with the commits that meet them, as their trailers say.

    The words of the criteria are those of the runs that are here.
    """
    import anyio

    from orchestrator.git.messages import traced_commits

    found = anyio.run(traced_commits, Path.cwd(), ref)
    if not found:
        say(f"no commit that {ref} reaches has a trailer of sq (Sq-Run)")
    for run_id in dict.fromkeys(one.run_id for one in found):
        say(f"run {visible(run_id)}")
        words = _words(runs / run_id) if (runs / run_id / "journal.db").is_file() else {}
        ours = [one for one in found if one.run_id == run_id]
        criteria = sorted({id_ for one in ours for id_ in one.criteria}, key=lambda id_: (len(id_), id_))
        for id_ in (*criteria, ""):
            commits = [one for one in ours if (id_ in one.criteria if id_ else not one.criteria)]
            if commits:
                say(f"  {visible(id_) or 'no criterion'}  {visible(words.get(id_, ''))}".rstrip())
            for one in commits:
                say(f"    {one.commit[:10]} {visible(one.title)}")
    return 0


def _words(folder: Path) -> dict[str, str]:
    from state.journal.events import PlanAccepted
    from state.journal.store import JournalReader

    with JournalReader(folder) as journal:
        plans = [one.event for one in journal.read(only=(PlanAccepted,))]
    return {one.id: one.text for plan in plans if isinstance(plan, PlanAccepted) for one in plan.criteria}


def _write(file: Path, text: str) -> None:
    from state.errors import UsageError

    try:
        file.write_bytes(text.encode(errors="backslashreplace"))
    except OSError as error:
        raise UsageError(
            f"{file} cannot be written: {error.strerror}. Name another file with -o, or `-` for stdout"
        ) from error
