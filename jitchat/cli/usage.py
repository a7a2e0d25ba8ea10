"""`jitchat usage`: sums of requests, tokens and cost."""

import sys
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import partial

import click

from jitchat.cli import cold_store, options, output
from jitchat.store.usage import Grouping, UsageRow, total_of_rows, usage_by
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.window.render import apportion

_NAME = 48
"""Maximum characters of a name in the table; half as many in the plot."""
_WIDTH = 80
"""Columns of a plot written to a file."""
_PER_DOLLAR, _FINE = 10_000, 10**9
"""Units per dollar: of the amounts shown, with four decimals, and of their shares, with nine."""
_HEADINGS = ("", "sent", "tokens in", "cached", "tokens out", "cost")
_NAMES = (
    "name sent=spent.sends unreported input_tokens cached_tokens output_tokens cost=spent.amount"
    " cost_unknown=spent.unknown cost_estimated=spent.estimated"
)
"""What JSON has of a row; the cost is in US dollars, unknown costs excluded."""


@click.command("usage", cls=options.SharingCommand)
@options.flag(
    "--by",
    "Group the sums by this.",
    type=click.Choice([each.value for each in Grouping]),
    default=Grouping.MODEL.value,
)
@options.flag(
    "--since DAY", "Include only DAY (YYYY-MM-DD) and later.", type=click.DateTime(["%Y-%m-%d"])
)
@options.flag("--plot/--no-plot", "Draw a bar chart (default: only in a terminal).", default=None)
def usage_command(
    flags: options.Flags, by: str, since: datetime | None, plot: bool | None, *, as_json: bool
) -> None:
    """Show how many requests and tokens were sent, and their cost.

    The sums are by model, day, conversation, project or purpose. Every request to a provider
    counts, including those of small models, of the rot lab and of deleted conversations. Days are
    in your time zone when the request was sent.
    """
    first: date | None = since.date() if since is not None else None
    with cold_store.opened_store(flags.paths()) as store:
        rows = usage_by(store.database, Grouping(by), first.isoformat() if first else None)
    none = "Nothing has been sent" + (f" since {first}." if first else " yet.")
    is_plotted = output.is_terminal(sys.stdout) if plot is None else plot
    fields = [output.json_fields(row, _NAMES) for row in rows]
    shown = partial(_print, rows, is_plotted=is_plotted)
    output.tell(fields, shown if rows else none, as_json=as_json)


def _print(rows: Sequence[UsageRow], *, is_plotted: bool) -> None:
    output.print_columns([_HEADINGS, *_table(rows)], right=(1, 2, 3, 4, 5))
    _explain_marks(total_of_rows(rows))
    if is_plotted:
        output.say("")
        output.print_columns([*_plot(rows)])


def _explain_marks(total: UsageRow) -> None:
    """Explain the marks in the table, if there are any."""
    if unknown := total.spent.unknown:
        output.say(
            f"unknown: {plural(unknown, 'request')} to models without a known price; set it under"
            " [models.NAME] in the configuration."
        )
    if total.spent.estimated:
        output.say("~: the provider did not report all tokens, so jitchat's own count is used.")


def _table(rows: Sequence[UsageRow]) -> Iterator[tuple[str, ...]]:
    """Format the rows and, if there are several, their total; the amounts shown add up to it."""
    total = total_of_rows(rows)
    shown = round(total.spent.amount * _PER_DOLLAR)
    shares = apportion(shown, [round(row.spent.amount * _FINE) for row in rows])
    yield from map(_cells, rows, shares)
    if len(rows) > 1:
        yield _cells(total, shown)


def _cells(row: UsageRow, shown: int) -> tuple[str, ...]:
    """Format a row; `shown` is its amount in hundredths of a cent."""
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


def _plot(rows: Sequence[UsageRow]) -> Iterator[tuple[str, str]]:
    """Draw a bar for each row: of money if anything was charged, else of tokens.

    Rows of unknown cost are left out, because a bar of zero would be wrong.
    """
    title = "cost"
    values = {row.name: row.spent.amount for row in rows if row.spent.amount}
    if not values:
        title = "tokens in and out"
        values = {row.name: row.input_tokens + row.output_tokens for row in rows}
    room = (output.terminal_width() or _WIDTH) - _NAME // 2 - 2
    most = max(values.values()) or 1
    yield "", title
    for name, value in values.items():
        yield shorten(name, _NAME // 2), "▇" * round(room * value / most)
