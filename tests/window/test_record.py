"""A window survives being written down."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given

from jitchat.values import Mode, RecallOrder
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION, Calibration
from jitchat.window.record import header_fields, ledger_fields, segment_fields, window_from
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow
from tests.examples import examples
from tests.window.cases import Case, cases
from tests.window.reports import KNOWN, calibrations, long_talk


def written(value: object) -> Any:
    return json.loads(json.dumps(value))


@examples(12)
@given(cases(), calibrations())
def test_a_window_reads_back_equal_with_the_same_digest(case: Case, learnt: Calibration):
    for mode in Mode:
        window = case.window(mode, EstimateCounter(), learnt=learnt)
        if isinstance(window, ContextWindow):
            again = read_back(window, header_fields(window))
            assert again == window
            assert again.digest == window.digest
            assert again.messages() == window.messages()


def test_the_limits_source_the_band_and_what_was_not_searched_are_kept():
    window = replace(
        long_talk(Mode.JIT, KNOWN),
        budget=Budget(9_000, 500, limit_source="loaded in the server"),
        not_searched=3,
    )
    again = read_back(window, header_fields(window))

    assert (again.budget.limit_source, again.band) == ("loaded in the server", window.band)
    assert again.not_searched == 3
    assert window.band > 0


def test_a_header_of_before_counts_were_corrected_is_read():
    window = long_talk(Mode.JIT, NO_CALIBRATION)
    header = header_fields(window)
    del header["counted"], header["band"], header["budget"]["limit_source"]

    assert read_back(window, header) == window


def test_a_header_of_before_recalled_turns_had_an_order_says_by_date():
    window = long_talk(Mode.JIT, NO_CALIBRATION)
    header = header_fields(window)
    del header["budget"]["order"]

    assert read_back(window, header).budget.order == RecallOrder.DATE


def read_back(window: ContextWindow, header: dict[str, Any]) -> ContextWindow:
    return window_from(
        written(header),
        written([segment_fields(segment) for segment in window.segments]),
        written([ledger_fields(row) for row in window.ledger]),
    )
