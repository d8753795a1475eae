"""The options of `sq promise`, and the checks of a new promise from them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from orchestrator.gates.promises.promise import PromiseCriterion

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
    from orchestrator.gates.promises.promise import CriterionCheck, PromiseCriterion
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
