"""A run as CSV (RFC 4180): a heading, then a row a cell, in UTF-8 without a mark at its beginning.

What models, files and users wrote may begin like a formula, and a spreadsheet that opens the
file would reckon it. So a text that begins, after whatever blanks, with one of `FORMULA` gets an
apostrophe in front of it, which spreadsheets take as "this is text". Numbers are the app's own
and are left alone. To have such a text back as it was, take one apostrophe off where one of
`FORMULA` follows; the JSON has all of them untouched. Control characters are made visible, but
for tabs and line feeds within a text. What is not known is empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from jitchat.rot.cells import Result
from jitchat.rot.run import Run
from jitchat.text.safe import visible
from jitchat.turn import Usage

FORMULA = frozenset("=+-@\t＝＋－＠")
"""A spreadsheet takes what begins with one of these for a formula, the wide ones too."""

COLUMNS = (
    "run", "model", "length", "depth", "kind", "repeat", "mode", "verdict", "rule", "question",
    "expected", "answer", "conversation", "said", "needed", "held", "tokens", "input_tokens",
    "output_tokens", "cached_tokens", "to_first_seconds", "seconds", "cost_usd", "note",
)  # fmt: skip
"""`needed` lists positions with a blank between two; the rest is as `Result` says."""


def csv_text(run: Run, results: Sequence[Result]) -> str:
    """Write a run, finished or not; lines end in CR LF."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows([_told(value) for value in _row(run, result)] for result in results)
    return made.getvalue()


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a text for a formula."""
    return text[:1] in FORMULA or text.lstrip()[:1] in FORMULA


def _row(run: Run, result: Result) -> list[str | float | None]:
    cell, usage = result.cell, result.usage or Usage(None, None)
    cached = usage.cached_tokens if usage.input_tokens is not None else None
    return [
        run.id, run.model, cell.length, cell.depth, cell.kind.value, cell.repeat,
        cell.mode.value, result.verdict.value, result.rule, result.question, result.expected,
        result.answer, result.conversation, result.said, " ".join(map(str, result.needed)),
        result.held, result.tokens, usage.input_tokens, usage.output_tokens, cached,
        result.to_first, result.seconds, result.cost, result.note,
    ]  # fmt: skip


def _told(value: str | float | None) -> str:
    """Write a value so that neither a spreadsheet nor a terminal obeys it."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    text = visible(value)
    return f"'{text}" if text and is_formula(text) else text
