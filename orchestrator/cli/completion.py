"""`sq completion`: the script that lets a shell complete commands, flags, presets and run ids."""

import click
from click.shell_completion import get_completion_class


@click.command("completion", short_help="Print a shell's completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
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
