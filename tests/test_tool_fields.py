"""What a turn has of tools is kept as data and read back as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.tool_fields import use_fields, use_from
from jitchat.values import NO_TOOL_USE, Echo, ToolCall, ToolUse
from tests.examples import examples

TEXTS = st.text(max_size=9)
CALLS = st.builds(ToolCall, TEXTS, TEXTS, TEXTS)
USES = st.builds(
    ToolUse,
    st.lists(CALLS, max_size=3).map(tuple),
    st.none() | st.builds(Echo, TEXTS, TEXTS, st.none() | st.integers(0)),
    st.none() | CALLS,
    st.booleans(),
)


@examples(100)
@given(use=USES)
def test_a_use_survives_json(use):
    assert use_from(json.loads(json.dumps(use_fields(use)))) == use


def test_a_turn_without_tools_says_nothing_of_them():
    assert use_fields(NO_TOOL_USE) == {}
    assert not NO_TOOL_USE
    assert ToolUse(is_error=True)


@pytest.mark.parametrize(
    "damaged",
    [
        [],
        "calls",
        {"calls": 1},
        {"calls": ["x"]},
        {"answers": {"id": 1, "name": "", "arguments": ""}},
        {"echo": {"origin": "o"}},
        {"answers": []} | {"calls": [{}]},
    ],
)
def test_what_describes_no_use_is_refused(damaged):
    with pytest.raises(TypeError):
        use_from(damaged)
