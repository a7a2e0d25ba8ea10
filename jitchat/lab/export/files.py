"""A run as a file: JSON, as `json_format.txt` describes it, or a page of HTML."""

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
    "html": html_page,
}


def exported(ending: str, run: Run, results: Sequence[Result]) -> bytes:
    """Write a run, finished or not, in the format of a file's ending, such as `html`.

    Raises:
        LookupError: There is no format with this ending; `FORMATS` lists them.

    """
    return repair(FORMATS[ending](run, results)).encode()
