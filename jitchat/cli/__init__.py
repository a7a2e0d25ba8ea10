"""The command line: flags → settings → the app, or a headless command.

A command's module is loaded when the command is run, so that `jitchat --help` loads little more
than click. Every failure ends as a sentence on standard error and an exit code, never as a
traceback.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import IO, Any, NoReturn

import click

from jitchat import __version__
from jitchat.cli import options, output
from jitchat.cli.termination import exit_code, handle_signals, heed_interrupts, leave
from jitchat.crash import crash_report, place_of
from jitchat.errors import JitchatError
from jitchat.paths import locate

INTERRUPTED = 130
"""The exit code after Ctrl+C, by the shells' convention."""


_COMMANDS = {
    "send": ("turns", "Send TEXT, print the reply as it arrives, and store both."),
    "window": ("turns", "Show the window that would be sent for TEXT, without sending it."),
    "why": ("turns", "Explain why turn ID is or is not in the window for TEXT."),
    "replay": ("windows", "Show the window that was sent for TURN."),
    "observations": (
        "observations",
        "Show the observations of CONVERSATION and their source turns.",
    ),
    "document": ("document", "Show or edit a project's memory document."),
    "check": ("check", "Re-plan every noted message and check that its turn is found."),
    "demo": ("chat", "Take a guided tour: the same question in each mode."),
    "rot": ("rot", "Measure how well each mode answers as the conversation grows."),
    "conversations": (
        "conversations",
        "List, search, rename, tag, archive and delete conversations.",
    ),
    "memory": ("memory", "List, add, edit, forget and export a project's facts."),
    "import": ("importing", "Import conversations from a file, a zip or a folder."),
    "export": ("exporting", "Export conversations as Markdown, JSON, JSONL or HTML."),
    "backup": ("exporting", "Copy the database to FILE, which must not exist."),
    "models": ("models", "List the providers and their models."),
    "usage": ("usage", "Show how many requests and tokens were sent, and their cost."),
    "tokens": ("tokens", "Show how MODEL's tokens are counted and how accurate the count is."),
    "keys": ("keys", "Store, list and remove the providers' API keys."),
    "mcp": ("mcp", "Add, list, check and remove MCP servers."),
    "doctor": ("doctor", "Check the setup, and that each configured provider answers."),
    "config": ("config", "Show every setting and its origin, or change settings."),
    "paths": ("config", "Show file locations and how each was chosen."),
    "folders": ("config", "List the folders whose files @path may attach."),
    "completion": ("completion", "Install tab completion for SHELL: bash, zsh or fish."),
    "bench": ("bench", "Measure what retrieval finds and what it costs."),
}
"""For each command, its module in `jitchat.cli` and its line in the help."""


class _Commands(options.SharingGroup):
    """The main group: it loads a command when it is run, and exits with the command's code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"jitchat.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        heed_interrupts()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without loading any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _COMMANDS.items()])

    def main(  # type: ignore[override]  # click's overloads differ in what they return
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: Any,  # noqa: ANN401  click's own
    ) -> NoReturn:
        """Run the command line; a bug leaves a crash report and a sentence."""
        output.expect_json(expected=False)
        try:
            code = super().main(args, prog_name, **extra | {"standalone_mode": False})
        except output.ReaderGone as error:
            _discard_output(sys.stdout)
            code = error.exit_code
        except output.OutputError as error:
            _discard_output(sys.stdout)
            code = _print_error(error)
        except (click.Abort, KeyboardInterrupt):
            code = output.say_failure(INTERRUPTED, "Interrupted.")
        except (JitchatError, click.ClickException) as error:
            code = _print_error(error)
        except Exception as error:  # noqa: BLE001  any failure becomes a sentence
            # after a signal, the error may only be that the terminal is gone
            code = 0 if exit_code(0) else _report_crash(error)
        _flush_output()
        sys.exit(exit_code(code if isinstance(code, int) else 0))


_EPILOG = (
    "Set a provider's API key in its environment variable, such as OPENAI_API_KEY, or store it with"
    " `jitchat keys set`. Every setting can be set in the configuration file, and most by an"
    " environment variable: `jitchat config` lists them. `jitchat paths` shows where the files are."
)


@click.group(cls=_Commands, invoke_without_command=True, epilog=_EPILOG)
@options.conversation_option("Conversation to open, by id or title (default: the most recent).")
@options.in_project
@options.as_temporary
@click.version_option(__version__, prog_name="jitchat", message="%(prog)s %(version)s")
@options.common_options
@click.pass_context
def commands(context: click.Context, flags: options.Flags) -> int | None:
    """Chat with any LLM and see what is inside its context window.

    Without a command, jitchat opens the chat. Press Ctrl+L there to choose a model or to enter an
    API key.
    """
    if context.invoked_subcommand is not None:
        return None
    from jitchat.cli.chat import run_chat  # noqa: PLC0415  loads the terminal app

    return run_chat(flags)


def main() -> None:
    handle_signals()
    try:
        commands.main(prog_name="jitchat")
    except SystemExit as end:
        leave(int(end.code or 0))


def _print_error(error: JitchatError | click.ClickException) -> int:
    """Print an error, after the usage line if it is a usage error. Return the exit code."""
    what = str(error) if isinstance(error, JitchatError) else error.format_message()
    usage = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        path = error.ctx.command_path
        usage = f"{error.ctx.get_usage()}\nTry '{path} --help' for help.\n\n"
    output.say(f"{usage}jitchat: {what}", err=True)
    return output.say_failure(error.exit_code, what)


def _report_crash(error: Exception) -> int:
    """Write a crash report and print where it is. Return the exit code."""
    where = place_of(locate(os.environ).crash, crash_report(error, __version__))
    what = f"stopped because of a bug ({type(error).__name__}). Stored data is safe.{where}"
    output.warn(what)
    return output.say_failure(1, what)


def _flush_output() -> None:
    """Flush now: if the interpreter's own flush failed at exit, it would change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            _discard_output(stream)


def _discard_output(stream: IO[str]) -> None:
    """Redirect a stream to the null device, so that the interpreter's flush at exit succeeds."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (AttributeError, OSError):  # None, or not a file
        return
