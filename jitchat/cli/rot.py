"""`jitchat rot`: a run in the app or without it; `list`, `show` and `forget`."""

import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Any

import click

from jitchat.cli import cold_store, options, output
from jitchat.cli.rot_options import RotFiles, RotFlags
from jitchat.errors import StoreError
from jitchat.lab import run_file, stats
from jitchat.lab.experiment import RunWanted
from jitchat.text.sanitize import one_line
from jitchat.values import Mode


@click.group("rot", cls=options.SharingGroup, invoke_without_command=True)
@options.common_options
@click.pass_context
def rot_command(
    context: click.Context, flags: options.Flags, wanted: RotFlags, files: RotFiles
) -> int | None:
    """Measure how well each mode answers as the conversation grows.

    Facts are planted at several depths in conversations of several lengths, the model is asked for
    them in each mode, and the share of right answers is shown by length and depth. In a terminal,
    this opens the app; without one, or with --headless, --resume, --yes, --fail-under or an output
    file, the results are printed here. The built-in reader needs no key; for any other model, the
    requests and their cost are shown first.
    """
    if context.invoked_subcommand is not None:
        wanted.require_alone(f"jitchat rot {context.invoked_subcommand}", files)
        return None
    wanted.require_consistent()
    if wanted.resume is not None:
        flags = _with_model_of(flags, wanted.resume)
    elif wanted.conversation is None:
        wanted = replace(wanted, conversation=flags.conversation)
    if wanted.max_answer is not None:
        flags = options.Flags(given={"lab.answer": wanted.max_answer}).over(flags)
    settings = cold_store.load_settings(flags)
    experiment = None
    if wanted.resume is None:
        asks = settings.tools.request_context == "on"
        experiment = replace(wanted.experiment(settings.in_use().name), asks=asks)
    asks_for_figures = wanted.fail_under or wanted.yes or wanted.headless or files.named()
    if experiment is not None and not asks_for_figures and output.is_terminal(sys.stdout):
        from jitchat.cli.chat import run_chat  # noqa: PLC0415  loads the terminal app

        return run_chat(flags, RunWanted(experiment, wanted.parallel, wanted.judge or ""))
    from jitchat.cli.rot_run import run_here  # noqa: PLC0415  loads the session

    run_here(flags, settings, wanted, experiment, files)
    return None


def _with_model_of(flags: options.Flags, wanted: str) -> options.Flags:
    """Use the model of a run if the flags name none."""
    if {"provider.name", "provider.model"} & flags.given.keys():
        return flags
    with _opened(flags, wanted) as file:
        run = file.run
    given: dict[str, Any] = {"provider.name": run.provider}
    if not run.is_reader:
        given["provider.model"] = run.model
    return options.Flags(given=given).over(flags)


def _opened(flags: options.Flags, wanted: str) -> closing[run_file.RunFile]:
    return closing(run_file.Runs(flags.paths().rot).open(wanted))


@rot_command.command("list")
def list_command(flags: options.Flags, as_json: bool) -> None:
    """List the runs, latest first, with their shares of right answers."""
    runs = run_file.Runs(flags.paths().rot).each(_summary)
    none = "No runs yet. `jitchat rot` starts one."
    output.print_records(runs, _fields, _cells, as_json=as_json, right=(1,), none=none)


@dataclass(frozen=True, slots=True)
class _Summary:
    """A run as it is listed."""

    run: run_file.Run
    decided: int
    """How many cells are decided."""
    tallies: Mapping[Mode, stats.Tally]
    """The answers of each of the run's modes."""


def _summary(file: run_file.RunFile) -> _Summary:
    counted: Mapping[Mode, stats.Tally] = {}
    with suppress(StoreError):  # list the run even if its results cannot be read
        counted = stats.count_results(file.results()).by_mode
    modes = file.run.experiment.modes
    return _Summary(
        file.run, file.count(), {mode: counted.get(mode, stats.Tally()) for mode in modes}
    )


def _cells(summary: _Summary) -> tuple[str, ...]:
    run = summary.run
    listed = ", ".join(f"{mode} {stats.total(tally)}" for mode, tally in summary.tallies.items())
    return run.id, f"{summary.decided:,}/{run.experiment.size:,}", listed, one_line(run.title)


def _fields(summary: _Summary) -> dict[str, Any]:
    """Convert a run to JSON values; a share is from 0 to 1, or null if there are no answers."""
    tallies = summary.tallies.items()
    return {
        **output.json_fields(summary.run, "id title provider model cells=experiment.size"),
        "decided": summary.decided,
        "shares": {mode: tally.share for mode, tally in tallies},
        "answered": {mode: tally.answered for mode, tally in tallies},
        **output.json_fields(summary.run, "begun_at ended_at"),
    }


@rot_command.command("show")
@click.argument("run", metavar="RUN")
def show_command(flags: options.Flags, run: str, files: RotFiles) -> None:
    """Print the tables of a run again, and write files of it.

    RUN is the run's id, or `last`.
    """
    files.require_writable()
    with _opened(flags, run) as file:
        files.print_run(file.run, file.results())


@rot_command.command("forget")
@click.argument("run", metavar="RUN")
@options.flag("--yes", "Delete the run without asking for confirmation.")
def forget_command(flags: options.Flags, run: str, yes: bool) -> None:
    """Delete a run with its conversations and answers.

    RUN is the run's id, or `last`.
    """
    try:
        with _opened(flags, run) as file:
            run, name = file.run.id, f"{file.run.id}, {one_line(file.run.title)},"
    except StoreError:
        name = f"{run}, which cannot be read,"
    if not output.may_delete(f"Delete {name} with all its answers?", given=yes):
        raise click.ClickException("Nothing was deleted.")
    run_file.Runs(flags.paths().rot).forget(run)
    output.say(f"{name} was deleted.", err=True)
