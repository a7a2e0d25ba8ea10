"""A run as a file: JSON, as `json_format.txt` describes it; CSV; a page of HTML.

The CSV (RFC 4180) has a header, then one row per cell, in UTF-8 without a byte order mark. Text
from models, files and users can start like a formula, which a spreadsheet would evaluate. So a text
that starts, after any white space, with one of `FORMULA` is prefixed with an apostrophe, which
spreadsheets read as "this is text". Numbers are jitchat's own and are unchanged. To restore such a
text, remove an apostrophe that is followed by one of `FORMULA`; the JSON has the original texts.
Control characters are made visible, except tabs and line feeds within a text. Unknown values are
empty.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from jitchat.lab.change import Change, ModeDifference, mode_differences
from jitchat.lab.evidence import Outcome, evidence_by_mode
from jitchat.lab.experiment import Result
from jitchat.lab.export.page import html_page
from jitchat.lab.report import caveats
from jitchat.lab.run_file import Run
from jitchat.lab.stats import Tallies, Tally, count_results
from jitchat.text.sanitize import repair
from jitchat.typed_data import fields_of
from jitchat.values import Usage

FORMULA = frozenset("=+-@\t＝＋－＠")
"""Spreadsheets read a text that starts with one of these as a formula, full-width ones too."""

COLUMNS = (
    "run", "model", "length", "depth", "kind", "repeat", "mode", "verdict", "rule", "question",
    "expected", "answer", "conversation", "said", "needed", "held", "tokens", "input_tokens",
    "output_tokens", "cached_tokens", "to_first_seconds", "seconds", "cost_usd", "note", "near",
)  # fmt: skip
"""`needed` lists positions, separated by spaces; the other columns are as in `Result`."""


def csv_text(run: Run, results: Sequence[Result]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows([_field(value) for value in _row(run, result)] for result in results)
    return text.getvalue()


def is_formula(text: str) -> bool:
    return text[:1] in FORMULA or text.lstrip()[:1] in FORMULA


def _row(run: Run, result: Result) -> list[str | float | None]:
    cell, usage = result.cell, result.usage or Usage(None, None)
    cached = usage.cached_tokens if usage.input_tokens is not None else None
    return [
        run.id, run.model, cell.length, cell.depth, cell.kind.value, cell.repeat,
        cell.mode.value, result.verdict.value, result.rule, result.question, result.expected,
        result.answer, result.conversation, result.said, " ".join(map(str, result.needed)),
        result.held, result.tokens, usage.input_tokens, usage.output_tokens, cached,
        result.to_first, result.seconds, result.cost, result.note, cell.near,
    ]  # fmt: skip


def _field(value: str | float | None) -> str:
    """Format a value so that no spreadsheet interprets it."""
    if not isinstance(value, str):
        return "" if value is None else str(value)
    return f"'{value}" if value and is_formula(value) else value


SCHEMA = "jitchat rot 2"


def json_text(run: Run, results: Sequence[Result]) -> str:
    return json.dumps(fields(run, results), indent=2) + "\n"


def fields(run: Run, results: Sequence[Result]) -> dict[str, Any]:
    cells = [fields_of(result) for result in results]
    return {
        "schema": SCHEMA,
        "caveat": " ".join(caveats(run)) or None,
        "run": fields_of(run) | {"title": run.title, "settings": dict(run.settings)},
        "figures": _figures(count_results(results)),
        "cells": [cell.pop("cell") | cell for cell in cells],
    }


def _figures(tallies: Tallies) -> dict[str, Any]:
    modes = {(mode,): tally for mode, tally in tallies.by_mode.items()}
    return {
        "by_mode": _rows(("mode",), modes),
        **{f"by_{name}": _rows(("mode", name), at) for name, at in tallies.along.items()},
        "by_kind": _rows(("mode", "kind"), tallies.by_kind),
        "squares": _rows(("mode", "length", "depth"), tallies.squares),
        "differences": [row for each in mode_differences(tallies) for row in _differences(each)],
        "evidence": [
            {"mode": mode} | {each.name.lower(): found.counts[each] for each in Outcome}
            for mode, found in evidence_by_mode(tallies).items()
        ],
        "spent": [{"mode": mode} | asdict(spent) for mode, spent in tallies.spent.items()],
    }


def _rows(names: Sequence[str], tallies: Mapping[Any, Tally]) -> list[dict[str, Any]]:
    rows = []
    for place, tally in tallies.items():
        row = dict(zip(names, place, strict=True)) | asdict(tally) | {"share": tally.share}
        row["low"], row["high"] = tally.interval or (None, None)
        rows.append(row)
    return rows


def _differences(each: ModeDifference) -> Iterator[dict[str, Any]]:
    changes: list[tuple[int | None, Change]] = [*each.at.items(), (None, each.whole)]
    for length, change in changes:
        low, high = change.interval
        yield {
            "mode": each.mode,
            "against": each.against,
            "length": length,
            "cells": change.after.answered,
            "left_out": each.left_out if length is None else None,
            "share": change.after.share,
            "share_against": change.before.share,
            "difference": change.points,
            "low": low,
            "high": high,
        }


FORMATS: Mapping[str, Callable[[Run, Sequence[Result]], str]] = {
    "json": json_text,
    "csv": csv_text,
    "html": html_page,
}


def exported(ending: str, run: Run, results: Sequence[Result]) -> bytes:
    """Write a run, finished or not, in the format of a file's ending, such as `html`.

    Raises:
        LookupError: There is no format with this ending; `FORMATS` lists them.

    """
    return repair(FORMATS[ending](run, results)).encode()
