"""A window survives being written down."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings

from jitchat.turn import Mode
from jitchat.window.record import header_fields, ledger_fields, segment_fields, window_from
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow
from tests.window.cases import Case, cases


def written(value: object) -> Any:
    return json.loads(json.dumps(value))


@settings(deadline=None, max_examples=30, derandomize=True)
@given(cases())
def test_a_window_reads_back_equal_with_the_same_digest(case: Case):
    for mode in Mode:
        window = case.window(mode, EstimateCounter())
        if isinstance(window, ContextWindow):
            again = window_from(
                written(header_fields(window)),
                written([segment_fields(segment) for segment in window.segments]),
                written([ledger_fields(row) for row in window.ledger]),
            )
            assert again == window
            assert again.digest == window.digest
            assert again.messages() == window.messages()
