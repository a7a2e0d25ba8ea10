"""`jitchat completion`: the shell script that completes commands, options and ids."""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from jitchat.cli import options, output
from jitchat.errors import JitchatError, UsageError, reported

_VARIABLE = "_JITCHAT_COMPLETE"


def _file_of(shell: str) -> Path:
    """Return the file that the shell loads completions from; zsh's folder has to be on $fpath."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "bash": data / "bash-completion" / "completions" / "jitchat",
        "zsh": data / "zsh" / "site-functions" / "_jitchat",
        "fish": config / "fish" / "completions" / "jitchat.fish",
    }[shell]


@click.command("completion", cls=options.SharingCommand)
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@options.flag("--print", "Print the script instead of installing it.", name="only_print")
def completion_command(shell: str, only_print: bool) -> None:
    """Install tab completion for SHELL: bash, zsh or fish."""
    made = get_completion_class(shell)
    root = click.get_current_context().find_root().command
    if made is None:
        raise UsageError(f"{shell} is not supported.")
    script = made(root, {}, "jitchat", _VARIABLE).source()
    if only_print:
        output.say(script, newline=False)
        return
    path = _file_of(shell)
    remedy = f"`jitchat completion {shell} --print` prints the script."
    with reported(JitchatError, f"{path} cannot be written", remedy):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
    output.say(f"Installed completion for {shell} in {path}. Start a new shell to use it.")
    if shell == "zsh":
        output.say(f"In ~/.zshrc, add fpath=({path.parent} $fpath) before compinit.")
    elif shell == "bash":
        output.say(
            f"If the package bash-completion is not installed, add `source {path}` to ~/.bashrc."
        )
