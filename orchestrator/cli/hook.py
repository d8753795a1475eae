"""`sq hook`, which Claude Code calls. This is for `--help`: `__main__` answers a hook before this is read."""

import click


@click.group("hook", short_help="Answer a hook of Claude Code (`sq hooks install` sets it up).")
def command() -> None:
    """Answer a hook of Claude Code: its JSON on stdin, the answer on stdout."""


@command.command("stop", short_help="Say whether a session of Claude Code may stop.")
@click.option("--power-steering", is_flag=True, help="Check with power steering too: a model, or rules.")
@click.option("--shared", is_flag=True, help="For shared settings: silent if another hook took the stop.")
def stop(power_steering: bool, shared: bool) -> None:
    """Say whether the session may stop: nothing or a message on stdout allows it, a decision holds it.

    The exit code is always 0.
    """
    from orchestrator.gates.stop_gate import entry

    del power_steering, shared  # `entry` reads the command line itself
    entry.main()
