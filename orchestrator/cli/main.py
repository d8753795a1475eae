"""The command group. Each command is imported only when it is called, so that `sq --help` is quick."""

import gc
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from orchestrator.views.screen import say
from state.errors import SqError, UsageError
from state.outcome import Outcome

if TYPE_CHECKING:
    from agents.session.port import ChooseAgent

# name → (module, the line that `sq --help` shows). The command in it is `command`, or named after a colon
COMMANDS = {
    "run": ("runs.run", "Work through a spec until it is built, reviewed and verified."),
    "verify": ("verify.command", "Ask whether a work is shown to be right."),
    "check": ("check", "Read a spec for faults before it is built, and answer its questions."),
    "plan": ("talk:plan", "Print the plan of a run, as a file that can be edited and built."),
    "approve": ("talk:approve", "Approve the plan of a run that waits for it."),
    "demo": ("runs.run:demo", "Show a rehearsed run on a small repository. The model is a script."),
    "resume": ("runs.run:resume", "Go on with a run that was interrupted or killed."),
    "answer": ("talk:answer", "Answer a question that a run left to a person."),
    "say": ("talk:say_word", "Add a word to the next prompt of a run or a task."),
    "pause": ("talk:pause", "Hold a run before its next exchange with a model."),
    "continue": ("talk:go_on", "Let a paused run go on."),
    "status": ("status", "Show the runs of this repository, or one run."),
    "watch": ("watch", "Follow a run on the whole screen."),
    "logs": ("status:logs", "Show everything that happened in a run."),
    "dash": ("dash", "Follow the runs of this repository in a browser."),
    "decisions": ("status:decisions", "Show the questions of a run and their answers."),
    "report": ("report", "Write the report of a run: a file to open, or a format for a CI."),
    "pr": ("pulls.commands:pr", "Hand the work of a run over as a pull request."),
    "follow": ("pulls.commands:follow", "Work on what the review of a pull request asks for."),
    "fleet": ("fleet.command", "Submit runs to many hosts, and work on them."),
    "gate": ("gate.command", "Check sessions of Claude Code: are they done, as they say?"),
    "promise": ("promise", "Promise checks that have to pass before a session may stop."),
    "hooks": ("hooks", "Install the stop gate into Claude Code, and take it out."),
    "hook": ("hooks:hook", "Answer a hook of Claude Code (`sq hooks install` sets it up)."),
    "clean": ("clean.command", "Remove worktrees, branches and state of runs that are over."),
    "doctor": ("doctor.command", "Check whether sq can work on this machine, with advice."),
    "config": ("config", "Show every setting with its value and where it came from."),
    "otel": ("otel", "Send the spans of a run to an OpenTelemetry collector."),
    "completion": ("main:completion", "Print a shell's completion script."),
}
_EPILOG = "`sq --spec SPEC.md` is short for `sq run --spec SPEC.md`. See a run without any key: `sq demo`."


class _Commands(click.Group):
    """Imports a command's module when it is asked for. Options without a command mean `run`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("--") and args[0].split("=")[0] not in {"--help", "--version"}:
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        if not module.startswith("runs."):
            gc.enable()
        command: click.Command = getattr(
            importlib.import_module(f"orchestrator.cli.{module}"), name or "command"
        )
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if not incomplete.startswith("-"):
            fitting = {name: line for name, (_, line) in COMMANDS.items() if name.startswith(incomplete)}
            return [CompletionItem(name, help=line) for name, line in fitting.items()]
        found = super().shell_complete(ctx, incomplete)
        if run := self.get_command(ctx, "run"):
            found += run.shell_complete(click.Context(run, parent=ctx), incomplete)
        return list({item.value: item for item in reversed(found)}.values())[::-1]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def _show_version(ctx: click.Context, _parameter: click.Parameter, value: Any) -> None:  # noqa: ANN401
    if value and not ctx.resilient_parsing:
        from orchestrator.cli.version import sq_version

        say(f"sq {sq_version()}")
        ctx.exit()


@click.group(cls=_Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version.",
)
def cli() -> None:
    """Let coding agents work through a written spec, unattended, until it is built, reviewed and verified."""


@click.command("completion", short_help="Print a shell's completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the completion script of SHELL. It completes commands, flags, effort presets and run ids.

    \b
    bash: sq completion bash > ~/.local/share/bash-completion/completions/sq
          (or in ~/.bashrc: eval "$(sq completion bash)")
    zsh:  sq completion zsh > FOLDER/_sq, a folder of your $fpath, then compinit
          (or in ~/.zshrc, after compinit: eval "$(sq completion zsh)")
    fish: sq completion fish > ~/.config/fish/completions/sq.fish

    sq has to be on the PATH. For a checkout: ln -s /path/to/sq/bin/sq ~/.local/bin/sq
    """  # noqa: D301  \b is click's mark for lines that stay as they are
    root = ctx.find_root()
    name = root.info_name or "sq"
    shells = get_completion_class(shell)
    if shells is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(shells(root.command, {}, name, f"_{name.upper()}_COMPLETE").source())  # noqa: TID251  a script
    return 0


def _say_error(error: SqError) -> None:
    """Print an error, without the secrets of the environment and of git's remotes here."""
    from state.redaction.redactor import known_in_git, redactor

    say(f"sq: {redactor(os.environ, known_in_git(Path.cwd()))(str(error))}", error=True)


def main(choose: "ChooseAgent | None" = None) -> None:
    """Entry point: errors become one message and their exit code (`state.outcome`).

    `choose`: which agent works in the sessions of a role.
    """
    try:
        code = cli.main(prog_name="sq", standalone_mode=False, obj=choose)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = Outcome.USAGE.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("sq: interrupted", error=True)
        code = Outcome.INTERRUPTED.exit_code
    except UsageError as error:
        _say_error(error)
        code = Outcome.USAGE.exit_code
    except SqError as error:
        _say_error(error)
        code = Outcome.FAILED.exit_code
    sys.exit(code if isinstance(code, int) else 0)
