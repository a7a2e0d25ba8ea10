"""`jitchat bench scaling`: what each mode sends, finds and takes as a conversation grows."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from jitchat.bench.haystack import Haystack, Length
from jitchat.bench.scaling import MeasureOptions, SizeResult, measure, steps
from jitchat.bench.scaling_report import plots, scaling_fields, tables
from jitchat.cli.bench_options import (
    measuring_options,
    modes_of,
    print_table,
    require_writable,
    with_model,
    write_figures,
)
from jitchat.cli.compose import make_budget
from jitchat.cli.options import Flags, SharingCommand, location_options
from jitchat.cli.output import emit, is_terminal, progress
from jitchat.paths import absolute
from jitchat.values import Mode

_SIZES, _LARGE = "20,40,80,160,320,1000", "10000,100000"
_WIDEST = 100
"""Columns of a plot, at most."""


@click.command("scaling", cls=SharingCommand)
@click.option(
    "--turns",
    metavar="LIST",
    help=f"Lengths of the conversation.  [default: {_SIZES}, and {_LARGE} unless turns are long]",
)
@click.option(
    "--turn-length",
    "length",
    type=click.Choice(["short", "usual", "long"]),
    default="usual",
    show_default=True,
    help="About 2, 30 or 1,500 words a turn.",
)
@measuring_options
@click.option("--plot", is_flag=True, help="Draw the tokens, too.")
@location_options
def scaling_command(  # noqa: PLR0913  an option each
    *,
    flags: Flags,
    turns: str | None,
    length: str,
    modes: str,
    out: Path | None,
    plot: bool,
    **model: str,
) -> None:
    """Grow a synthetic conversation and ask for one fact in it. Sends nothing."""
    usual = _SIZES if length == "long" else f"{_SIZES},{_LARGE}"
    sizes = _sizes(usual if turns is None else turns)
    wanted, chosen = modes_of(modes), with_model(flags, **model)
    settings = chosen.settings()
    require_writable(out)
    measured = _measure(sizes, length, wanted, chosen)
    for table in tables(measured, length, make_budget(settings).limit):
        print_table(table)
        emit("")
    if plot:
        _print_plots(measured)
    if out is not None:
        write_figures(out, scaling_fields(measured, length, settings))


def _sizes(listed: str) -> list[int]:
    """Read what `--turns` lists: each once, the smallest first."""
    try:
        sizes = sorted({int(piece) for piece in listed.split(",")})
    except ValueError:
        sizes = [0]
    if sizes[0] < 1:
        raise click.BadParameter(f"--turns: {listed!r}. Give whole numbers above 0: 20,40,80.")
    return sizes


def _measure(
    sizes: Sequence[int], length: str, modes: Sequence[Mode], flags: Flags
) -> list[SizeResult]:
    settings = flags.settings()
    embedder = settings.embedder
    wanted = MeasureOptions(
        embedder.name,
        embedder.model,
        str(absolute(Path(embedder.path))) if embedder.path else None,
        str(flags.paths().models),
        settings.model_name(),
        make_budget(settings),
        tuple(modes),
    )
    talks = [Haystack(size, Length(length)) for size in sizes]
    with progress("turns", sum(map(steps, sizes))) as advance:
        return [measure(wanted, talk, advance) for talk in talks]


def _print_plots(sizes: Sequence[SizeResult]) -> None:
    wide = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else _WIDEST
    for drawn in plots(sizes, min(wide, _WIDEST)):
        emit(f"{drawn}\n")
