"""`asky completion`: the script with which a shell completes asky's commands and options."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    \b
      bash   eval "$(asky completion bash)"       in ~/.bashrc
      zsh    eval "$(asky completion zsh)"        in ~/.zshrc
      fish   asky completion fish | source        in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class  # only for this command

    maker = get_completion_class(shell)
    if maker is None:
        raise click.UsageError(f"no completion for {shell}", ctx)
    click.echo(maker(ctx.find_root().command, {}, "asky", "_ASKY_COMPLETE").source())
