"""`jitchat bench scaling`: what each mode sends, finds and takes as a conversation grows."""

from collections.abc import Sequence
from pathlib import Path

import click

from jitchat.bench.haystack import Haystack, Length
from jitchat.bench.scaling import Wanted, measured, steps
from jitchat.bench.scaling_report import plots, scaling_fields, tables
from jitchat.bench.scores import Measured
from jitchat.cli import output
from jitchat.cli.bench_options import measuring_options, with_embedder, write_figures
from jitchat.cli.options import Flags, SharingCommand, location_options
from jitchat.models import resolve_model
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
    modes: list[Mode],
    out: Path | None,
    plot: bool,
    **embedding: str,
) -> None:
    """Grow a synthetic conversation and ask for one fact in it. Sends nothing."""
    usual = _SIZES if length == "long" else f"{_SIZES},{_LARGE}"
    sizes = _sizes(usual if turns is None else turns)
    flags = with_embedder(flags, **embedding)
    settings = flags.settings()
    if out is not None:
        output.require_writable(out)
    measured = _measure(sizes, length, modes, flags)
    output.print_tables(tables(measured, length, resolve_model(settings).asked_budget.limit))
    output.emit("")
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
) -> list[Measured]:
    settings = flags.settings()
    embedder = settings.embedder
    wanted = Wanted(
        embedder.name,
        embedder.model,
        str(absolute(Path(embedder.path))) if embedder.path else None,
        str(flags.paths().models),
        settings.model_name(),
        resolve_model(settings).asked_budget,
        tuple(modes),
    )
    talks = [Haystack(size, Length(length)) for size in sizes]
    with output.progress("turns", sum(map(steps, sizes))) as advance:
        return [measured(wanted, talk, advance) for talk in talks]


def _print_plots(sizes: Sequence[Measured]) -> None:
    width = min(output.terminal_width() or _WIDEST, _WIDEST)
    for drawn in plots(sizes, width):
        output.emit(f"{drawn}\n")
