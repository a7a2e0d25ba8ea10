"""`jitchat usage`: what was sent and what it cost, in sums."""

import sys
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any

import click

from jitchat.cli import cold_store, options, output
from jitchat.store.usage import Grouping, UsageRow, total_of_rows, usage_by
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.window.plan import apportion

_NAME = 48
"""Characters of a name in the table; in the plot half of it."""
_WIDTH = 80
"""Columns of a plot that goes to a file."""
_PER_DOLLAR, _FINE = 10_000, 10**9
"""Of an amount, four digits are shown; by nine it is divided."""
_HEADINGS = ("", "sent", "tokens in", "cached", "tokens out", "cost")


@click.command("usage", cls=options.SharingCommand)
@click.option(
    "--by",
    type=click.Choice([each.value for each in Grouping]),
    default=Grouping.MODEL.value,
    show_default=True,
    help="What the sums are of.",
)
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY", help="From DAY on.")
@click.option("--plot/--no-plot", default=None, help="Draw the sums; in a terminal, as a rule.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.location_options
def usage_command(
    flags: options.Flags, by: str, since: datetime | None, plot: bool | None, *, as_json: bool
) -> None:
    """Show what was sent and what it cost, by model, day, conversation, project or purpose.

    Each request to a provider counts, those of small models and of the rot lab too, and those of
    conversations that were deleted. Days are those of your time zone when it was sent.
    """
    first: date | None = since.date() if since is not None else None
    with cold_store.opened_store(flags.paths()) as store:
        rows = usage_by(store.database, Grouping(by), first.isoformat() if first else None)
    if as_json:
        output.say_json([_fields(row) for row in rows])
    elif not rows:
        output.say("Nothing was sent" + (f" since {first}." if first else " yet."))
    else:
        output.print_columns([_HEADINGS, *_table(rows)], right=(1, 2, 3, 4, 5))
        _say_what_is_not_sure(total_of_rows(rows))
        if plot if plot is not None else output.is_terminal(sys.stdout):
            for line in _plotted(rows):
                output.emit(line)


def _fields(row: UsageRow) -> dict[str, Any]:
    """Turn it into what JSON knows; the cost is in US dollars, of requests with a known one."""
    return {
        "name": row.name,
        "sent": row.spent.sends,
        "unreported": row.unreported,
        "input_tokens": row.input_tokens,
        "cached_tokens": row.cached_tokens,
        "output_tokens": row.output_tokens,
        "cost": row.spent.amount,
        "cost_unknown": row.spent.unknown,
        "cost_estimated": row.spent.estimated,
    }


def _say_what_is_not_sure(total: UsageRow) -> None:
    """Say what the marks in the table mean, where there are any."""
    if unknown := total.spent.unknown:
        output.say(
            f"Unknown: {plural(unknown, 'request')} to models whose price nobody tells;"
            " [models.NAME] in the configuration can."
        )
    if total.spent.estimated:
        output.say("~: the provider did not report all tokens, and jitchat's own count stands.")


def _table(rows: Sequence[UsageRow]) -> Iterator[tuple[str, ...]]:
    """Write the rows and, below more than one, their total: the amounts shown add up to it."""
    total = total_of_rows(rows)
    shown = round(total.spent.amount * _PER_DOLLAR)
    shares = apportion(shown, [round(row.spent.amount * _FINE) for row in rows])
    yield from map(_cells, rows, shares)
    if len(rows) > 1:
        yield _cells(total, shown)


def _cells(row: UsageRow, shown: int) -> tuple[str, ...]:
    """Write a row, with so many hundredths of a cent for its amount."""
    counts = row.input_tokens, row.cached_tokens, row.output_tokens
    numbers = (row.spent.sends, *counts)
    return shorten(row.name, _NAME), *(f"{n:,}" for n in numbers), _cost(row, shown)


def _cost(row: UsageRow, shown: int) -> str:
    spent = row.spent
    if not spent.amount:
        return "cost unknown" if spent.unknown else "free" if row.billed else "nothing"
    amount = f"${shown / _PER_DOLLAR:,.4f}" if shown else f"<${1 / _PER_DOLLAR}"
    known = f"{'~' if spent.estimated else ''}{amount}"
    return f"{known} + {spent.unknown:,} unknown" if spent.unknown else known


def _plotted(rows: Sequence[UsageRow]) -> Iterator[str]:
    """Draw a bar a row: of money where anything was charged, else of tokens.

    What costs nobody knows how much has no bar, for it would be one of nothing.
    """
    import plotext  # noqa: PLC0415  170 ms, needed for a plot only

    values: list[float] = [row.input_tokens + row.output_tokens for row in rows]
    title = "tokens in and out"
    if any(row.spent.amount for row in rows):
        rows = [row for row in rows if row.spent.amount or not row.spent.unknown]
        is_little = max(row.spent.amount for row in rows) < 1
        values = [row.spent.amount * (100 if is_little else 1) for row in rows]
        title = "US cents" if is_little else "US dollars"
    if not any(values):
        return
    names = [output.painted(shorten(row.name, _NAME // 2), None) for row in rows]
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.simple_bar(names, values, width=output.terminal_width() or _WIDTH, title=title)
    yield ""
    yield plotext.build().rstrip("\n")
