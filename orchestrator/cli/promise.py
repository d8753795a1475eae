"""`sq promise`: promise checks that have to pass before this session may stop."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orchestrator.cli import options
from orchestrator.views.screen import say, say_json

if TYPE_CHECKING:
    from orchestrator.gates.promises import Promise, PromiseCriterion, PromiseStore


_ORDER = "sq.promise.order"  # in the context: the options of `create` in their order
_SESSION_VARIABLES = ("CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID")

project_option = click.option(
    "--project",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Whose promises (default: the checkout around $CLAUDE_PROJECT_DIR, or around this folder).",
)
session_option = click.option(
    "--session",
    metavar="ID",
    envvar=_SESSION_VARIABLES,
    default="",
    help="The session (default: $CLAUDE_SESSION_ID, else $CLAUDE_CODE_SESSION_ID).",
)


class InOrder(click.Command):
    """Keeps the order of the options, since click keeps it only among the values of one option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse like click, and keep the order in the context."""
        order = self.make_parser(ctx).parse_args(list(args))[2]
        ctx.meta[_ORDER] = [one.name for one in order]
        return super().parse_args(ctx, args)


def checks_in_order(
    ctx: click.Context, given: dict[str, list[str]], deadline: float
) -> "tuple[PromiseCriterion, ...]":
    """The checks in the order of the command line, each with the words before it.

    Raises:
        click.UsageError: words without a check, or no check at all.
    """
    from orchestrator.gates.promises import CriterionCheck, PromiseCriterion
    from orchestrator.views.gates import in_words

    kinds = {
        "commands": CriterionCheck.COMMAND,
        "paths": CriterionCheck.FILE,
        "commits": CriterionCheck.COMMIT,
    }
    criteria: list[PromiseCriterion] = []
    words = ""
    for name in [*ctx.meta[_ORDER], "texts"]:
        if name == "texts":
            if words:
                raise click.UsageError(
                    f"--criterion {words!r} has no check after it, and words are no evidence: "
                    "write --command, --file or --commit after it"
                )
            words = given["texts"].pop(0) if given["texts"] else ""
        elif name in kinds:
            kind, target = kinds[name], given[name].pop(0)
            criteria.append(
                PromiseCriterion(
                    text=words or in_words(kind, target), kind=kind, target=target, deadline_s=deadline
                )
            )
            words = ""
    if not criteria:
        raise click.UsageError("a promise needs a check: --command CMD, --file PATH or --commit WORDS")
    return tuple(criteria)


_NOT_MET = 1  # exit code
_EXAMPLE = """\b
sq promise create "Invoices show the discount" \\
    --criterion "the tests pass" --command "pytest -q" \\
    --file docs/invoices.md --commit discount
"""


@click.group("promise", short_help="Promise checks that have to pass before a session may stop.")
def command() -> None:
    """Promises that a session of Claude Code has to keep before `sq hook stop` lets it stop.

    Each has criteria, and each criterion a check that is fixed when the promise is made: a command, a file or
    a commit. Words are no evidence, and a check counts only for the tree that it was made on.
    """


@command.command("create", cls=InOrder, short_help="Make a promise.", epilog=_EXAMPLE)
@click.argument("text")
@click.option(
    "--criterion", "texts", multiple=True, metavar="TEXT", help="The meaning of the check after it, in words."
)
@click.option(
    "--command", "commands", multiple=True, metavar="CMD", help="Met if `sh -c CMD` exits with 0 at the top."
)
@click.option(
    "--file", "paths", multiple=True, metavar="PATH", help="Met if this file is there. PATH is from the top."
)
@click.option(
    "--commit",
    "commits",
    multiple=True,
    metavar="WORDS",
    help="Met by a new commit whose message holds WORDS (an empty text: by any).",
)
@click.option(
    "--deadline",
    type=click.FloatRange(0, 3600, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="For each command.",
)
@session_option
@project_option
@click.pass_context
def create(
    ctx: click.Context,
    text: str,
    texts: Sequence[str],
    commands: Sequence[str],
    paths: Sequence[str],
    commits: Sequence[str],
    deadline: float,
    session: str,
    project: Path | None,
) -> int:
    """Promise TEXT, with at least one check. Prints the promise's id.

    The checks are numbered as they are written, and cannot be changed afterwards.
    """
    import anyio

    from orchestrator.gates.promise_evidence import keep_out_of_git, promise_base, refuse_uncheckable
    from orchestrator.gates.promises import Promise

    given = {"texts": list(texts), "commands": list(commands), "paths": list(paths), "commits": list(commits)}
    criteria = checks_in_order(ctx, given, deadline)
    store = store_of(project)

    async def make() -> Promise:
        base = await promise_base(store.home)
        promise = Promise.new(text=text, criteria=criteria, owner=session, base=base)
        refuse_uncheckable(store.home, criteria)
        store.add(promise)
        await keep_out_of_git(store.home, store.folder)
        return promise

    say(anyio.run(make).id)
    return 0


@command.command("list", short_help="Show the promises of this project.")
@project_option
@options.json_object
def list_(project: Path | None, as_json: bool) -> int:
    """Show every promise with its owner and its state, oldest first."""
    from orchestrator.views.gates import promise_object, promises_lines

    store = store_of(project)
    found = store.all()
    if as_json:
        damaged = [{"file": str(one.file), "problem": str(one)} for one in found.damaged]
        shown = {"promises": [promise_object(one) for one in found.promises], "damaged": damaged}
        say_json(shown)
    else:
        say(*(promises_lines(found) or [f"there is no promise in {store.folder}"]))
    return 0


@command.command("show", short_help="Show a promise and its unmet criteria.")
@click.argument("promise_id", metavar="ID")
@project_option
@options.json_object
def show(promise_id: str, project: Path | None, as_json: bool) -> int:
    """Show the promise ID with its checks, and which of them are met on the present tree. Runs no command."""
    store = store_of(project)
    _report(store, store.get(promise_id), as_json=as_json)
    return 0


@command.command("meet", short_help="Have one criterion checked.")
@click.argument("promise_id", metavar="ID")
@click.argument("number", type=click.IntRange(1))
@project_option
def meet(promise_id: str, number: int, project: Path | None) -> int:
    """Claim that criterion NUMBER of the promise ID is met. Its check decides.

    Exit code 0 if it is met, 1 if not. The promise stays open until `sq promise verify` closes it.
    """
    from orchestrator.views.gates import criterion_lines

    store = store_of(project)
    promise = checkable(store, promise_id)
    if number > len(promise.criteria):
        raise click.BadParameter(
            f"{promise_id} has {len(promise.criteria)} criteria, so {number} is none of them",
            param_hint="NUMBER",
        )
    promise = checked(store, promise, [number], close=False)
    unproven = unproven_now(store, promise)
    say(*criterion_lines(promise, number, unproven))
    if not unproven:
        say(f"every criterion is met. Close the promise with: sq promise verify {promise.id}")
    return _NOT_MET if number in unproven else 0


@command.command("verify", short_help="Have every criterion checked, and close the promise if all are met.")
@click.argument("promise_id", metavar="ID")
@project_option
@options.json_object
def verify(promise_id: str, project: Path | None, as_json: bool) -> int:
    """Check every criterion of the promise ID on the present tree. If all are met the promise is kept.

    Exit code 0 if it is kept, 1 if not.
    """
    from orchestrator.gates.promises import State

    store = store_of(project)
    promise = store.get(promise_id)
    if promise.state is not State.KEPT:
        promise = checkable(store, promise_id)
        promise = checked(store, promise, range(1, len(promise.criteria) + 1), close=True)
    _report(store, promise, as_json=as_json)
    return 0 if promise.state is State.KEPT else _NOT_MET


@command.command("cancel", short_help="End a promise that will not be kept.")
@click.argument("promise_id", metavar="ID")
@click.option("--reason", required=True, metavar="TEXT", help="The reason, which is kept with the promise.")
@session_option
@project_option
def cancel(promise_id: str, reason: str, session: str, project: Path | None) -> int:
    """End the promise ID of this session, and keep the reason."""
    promise = store_of(project).change(promise_id, lambda one: one.cancelled_by(session, reason))
    say(f"{promise.id} is cancelled: {promise.reason}")
    return 0


def _report(store: "PromiseStore", promise: "Promise", *, as_json: bool) -> None:
    from orchestrator.gates.promises import State
    from orchestrator.views.gates import promise_lines, promise_object

    unproven = {} if promise.state is State.KEPT else unproven_now(store, promise)
    if as_json:
        say_json(promise_object(promise, unproven))
    else:
        say(*promise_lines(promise, unproven))


def store_of(project: Path | None) -> "PromiseStore":
    """The promises of `project`, else of CLAUDE_PROJECT_DIR, else of this folder."""
    from orchestrator.gates.promises import PromiseStore

    named = os.environ.get("CLAUDE_PROJECT_DIR", "")
    if project is None and named and os.path.isdir(named):  # noqa: PTH112  raises for no path
        project = Path(named)
    return PromiseStore.of_project(project or Path.cwd())


def checkable(store: "PromiseStore", promise_id: str) -> "Promise":
    """The promise, if it can still be checked.

    Raises:
        SqError: it has ended, or was changed after it was made.
    """
    from state.errors import SqError

    promise = store.get(promise_id)
    promise.refuse_ended()
    if promise.is_altered:
        raise SqError(
            f"{promise.id} was changed after it was made, so nothing can show that it is kept. "
            f'End it with: sq promise cancel {promise.id} --reason "…", and make a new one'
        )
    return promise


def checked(store: "PromiseStore", promise: "Promise", numbers: Sequence[int], *, close: bool) -> "Promise":
    """Run the promise's checks and store it with their evidence, closed if `close` and all are met."""
    import anyio

    from orchestrator.gates.promise_evidence import evidence_now

    found = anyio.run(evidence_now, store.home, promise, numbers)

    def change(now: "Promise") -> "Promise":
        now.refuse_ended()
        now = now.with_evidence(found)
        return now.closed() if close and not now.unproven(found[numbers[-1]].tree) else now

    return store.change(promise.id, change)


def unproven_now(store: "PromiseStore", promise: "Promise") -> dict[int, str]:
    """The criteria that are not known to be met now: their numbers, each with the cause."""
    import anyio

    from orchestrator.gates.promise_evidence import present_tree, unproven

    async def look() -> dict[int, str]:
        return await unproven(store.home, promise, await present_tree(store.home))

    return anyio.run(look)
