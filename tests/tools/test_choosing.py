"""Which tools are offered with a message, and the reasons for the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jitchat.tools.choosing import SHARE, chosen
from jitchat.values import Tool

TOOLS = [
    (Tool("tracker__search_issues", "Searches the issues of a project.", "{}"), 300),
    (Tool("weather__forecast", "Tells tomorrow's weather for a place.", "{}"), 200),
    (Tool("files__read", "Reads a file from the notes.", "{}"), 100),
    (Tool("request_context", "Asks the store for earlier turns.", "{}"), 150),
]


def offered(message: str, budget: int | None = 4_000) -> list[str]:
    return [each.tool.name for each in chosen(TOOLS, message, budget) if each.is_offered]


def reasons(message: str, budget: int | None = 4_000) -> dict[str, str]:
    return {each.tool.name: each.reason for each in chosen(TOOLS, message, budget)}


def test_all_tools_go_along_by_name_while_they_take_little():
    everything = sorted(tool.name for tool, _ in TOOLS)

    assert offered("hello", budget=7_500) == everything
    assert set(reasons("hello", budget=7_500).values()) == {"all tools take little of the budget"}
    assert offered("hello", budget=None) == everything


def test_beyond_that_those_go_along_that_share_a_word_with_the_message():
    assert offered("Which issue is about reading?") == ["files__read", "tracker__search_issues"]
    told = reasons("Which issue is about reading?")
    assert told["tracker__search_issues"] == 'its description fits on "issue"'
    assert told["weather__forecast"] == "its description does not fit"


def test_what_fits_but_has_no_room_is_left_out_with_its_price():
    assert offered("issues", budget=2_500) == []
    told = reasons("issues", budget=2_500)["tracker__search_issues"]
    assert told == "it fits, but 300 tokens exceed what is left for tools"


@given(
    st.lists(
        st.tuples(
            st.text("abc_", min_size=1, max_size=8), st.text(max_size=30), st.integers(1, 400)
        ),
        max_size=12,
        unique_by=lambda each: each[0],
    ),
    st.text(max_size=40),
    st.integers(0, 9_000),
)
def test_every_tool_is_judged_once_and_the_choice_fits(listed, message: str, budget: int):
    tools = [(Tool(name, description, "{}"), price) for name, description, price in listed]

    choices = chosen(tools, message, budget)

    names = [choice.tool.name for choice in choices]
    assert names == sorted(name for name, _, _ in listed)
    assert all(choice.reason for choice in choices)
    assert sum(choice.tokens for choice in choices if choice.is_offered) <= budget * SHARE
    assert chosen(tools[::-1], message, budget) == choices
