"""A run as JSON (RFC 8259), with every cell and all that its figures depend on.

One object; shares are 0 to 1, times seconds, money US dollars, moments ISO 8601 with their
offset; null is what is not known. Every character that is not ASCII is escaped, so that nothing
in the file steers a terminal, and nothing is lost.

    schema        "jitchat rot 1": the second word changes its number when a field changes
    caveat        how the figures are to be read; null but for the embedded reader
    run           what is known of the run beside its results
        id, title, provider, model, embedder, limit, reserve, counter, version, begun_at,
        ended_at (null: cells have no result yet), judge ("": rules alone), seconds (spent on
        asking, in all of its legs), source (a SHA-256 of what the user's conversation said,
        where that is the filler; else "")
        experiment    lengths, depths, kinds, modes, repeats, seed, preset, conversation
        settings      every setting by `section.key`, as TOML writes it
    figures       what the cells come to; of what was not asked there is no entry
        by_mode, by_length, by_kind, squares    a list each, of
            mode, and as it goes length, kind or depth
            right, wrong, unfit, failed         cells
            share                               of the answered (right + wrong)
            low, high                           of one length (by_length, squares): Wilson's 95 %
                                                interval; all three null where none was answered
        spent         a list, of mode, sent, tokens, to_first, seconds (medians), cached (share
                      of the input), cost (of all), unpriced (cells that it does not know)
    cells         a list of every result, as it was decided
        length, depth, kind, repeat, mode       which it is
        verdict       "right", "wrong", "does not fit", "failed"
        rule          why, as a short phrase
        question, expected, answer
        conversation, said, needed, held, window_id
        tokens        of the window, as it was counted when it was sent
        usage         null, or input_tokens, output_tokens, cached_tokens, written_tokens,
                      reasoning_tokens, cost as the provider reported them
        to_first, seconds, cost, note
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from jitchat.rot.caveat import READER_CAVEAT
from jitchat.rot.cells import Result
from jitchat.rot.record import result_fields, run_fields
from jitchat.rot.run import Run
from jitchat.rot.tally import Tallies, Tally, tallied

SCHEMA = "jitchat rot 1"


def json_text(run: Run, results: Sequence[Result]) -> str:
    """Write a run, finished or not."""
    return json.dumps(fields(run, results), indent=2) + "\n"


def fields(run: Run, results: Sequence[Result]) -> dict[str, Any]:
    """Give what is written, as plain data."""
    return {
        "schema": SCHEMA,
        "caveat": READER_CAVEAT if run.is_reader else None,
        "run": _run(run),
        "figures": _figures(tallied(results)),
        "cells": [_cell(result) for result in results],
    }


def _run(run: Run) -> dict[str, Any]:
    return run_fields(run) | {"title": run.title, "settings": dict(run.settings)}


def _cell(result: Result) -> dict[str, Any]:
    made = result_fields(result)
    cell: dict[str, Any] = made.pop("cell")
    return cell | made


def _figures(tallies: Tallies) -> dict[str, Any]:
    modes = {(mode,): tally for mode, tally in tallies.by_mode.items()}
    return {
        "by_mode": list(_listed(("mode",), modes)),
        "by_length": list(_listed(("mode", "length"), tallies.by_length)),
        "by_kind": list(_listed(("mode", "kind"), tallies.by_kind)),
        "squares": list(_listed(("mode", "length", "depth"), tallies.squares)),
        "spent": [{"mode": mode} | asdict(spent) for mode, spent in tallies.spent.items()],
    }


def _listed(names: Sequence[str], tallies: Mapping[Any, Tally]) -> Iterator[dict[str, Any]]:
    for place, tally in tallies.items():
        low, high = tally.interval or (None, None)
        ends = {"low": low, "high": high} if "length" in names else {}
        told = asdict(tally) | {"share": tally.share}
        yield dict(zip(names, place, strict=True)) | told | ends
