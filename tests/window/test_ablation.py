"""A window without one of its turns: everything else stays byte for byte."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from jitchat.errors import WindowOverflow
from jitchat.small_models.leave_one_out import by_score, without
from jitchat.values import Mode
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import Kind
from tests.examples import examples
from tests.window.cases import Case, cases

FENCE = re.compile(r"<(recalled(?:-\d+)?)>\n")


@given(case=cases())
@examples(16)
def test_without_a_turn_its_quotation_goes_and_with_the_last_one_the_fence(case: Case) -> None:
    window = case.window(Mode.JIT, EstimateCounter())
    if isinstance(window, WindowOverflow):
        return
    retrieved = [each for each in window.segments if each.kind is Kind.RETRIEVED]
    assert set(by_score(window)) == set(retrieved)
    before = window.messages()
    for place, segment in enumerate(retrieved):
        assert segment.turn is not None
        after = without(window, segment.turn)
        assert after[:-1] == before[:-1]
        opening = FENCE.match(retrieved[0].text)
        assert opening is not None
        quotation = segment.text
        if len(retrieved) > 1:
            quotation = quotation.removeprefix(opening[0] if not place else "")
            closing = f"</{opening[1]}>\n"
            quotation = quotation.removesuffix(closing if segment is retrieved[-1] else "")
        ahead, _, behind = before[-1].content.partition(quotation)
        assert after[-1].content == ahead + behind


@given(case=cases())
@examples(5)
def test_only_what_was_retrieved_can_be_left_out(case: Case) -> None:
    window = case.window(Mode.RECENCY, EstimateCounter())
    if isinstance(window, WindowOverflow):
        return
    with pytest.raises(LookupError):
        without(window, case.draft.position)
