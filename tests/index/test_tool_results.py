"""Tool results in the hot index: found by their call and text, shown as one line."""

from __future__ import annotations

import json

import pytest

from jitchat.index.entry import SUMMARY_WIDTH, index_entry
from jitchat.index.tool_results import result_line
from jitchat.memory import result_turn
from jitchat.session_options import SessionOptions
from jitchat.store.store import local_now
from jitchat.values import REQUEST_CONTEXT, Mode, Role, ToolCall, ToolResult, ToolUse, Turn
from jitchat.window.budget import Budget
from jitchat.window.window import Kind
from tests.support import conversation_of, session_on, talk

ISSUES = [{"id": 3, "title": "The login page hangs"}, {"id": 9, "title": "A typo"}]


def line(content: str, arguments: str = '{"query": "login"}', *, is_error: bool = False) -> str:
    result = ToolResult(ToolCall("c", "search_issues", arguments), content, is_error)
    return index_entry(result_turn(result, local_now())).summary


@pytest.mark.parametrize(
    ("content", "described"),
    [
        (json.dumps(ISSUES), '2 rows, first {"id": 3, "title": "The login page hangs"}'),
        (json.dumps({"page": 1, "issues": ISSUES[:1]}), '1 row, first {"id": 3, "title": "The'),
        ("id,title\n3,login\n9,typo", "3 lines, first id,title"),
        ("No issue found.", "No issue found."),
        ("", "nothing"),
        ("[" * 100_000, "[["),
        ('{"page": 1}', '{"page": 1}'),
    ],
)
def test_the_line_says_what_was_called_and_what_came_back(content, described):
    assert line(content).startswith(f'search_issues(query="login") → {described}')


def test_the_line_of_a_failure_says_so_and_every_line_is_short():
    assert line("no such host", is_error=True).endswith("→ failed: no such host")
    assert len(line("x " * 5_000, json.dumps({"query": "y" * 5_000}))) <= SUMMARY_WIDTH
    assert line("ok", "{broken") == "search_issues() → ok"


def test_the_line_of_a_declined_call_says_why_and_what_ran_cannot_pass_for_one():
    said = "Declined by the user: the call was not run. Do not call it again."
    assert line(said, is_error=True).endswith("→ declined by the user: the call was not run")
    call = ToolCall("c", "search_issues", "")
    ran = ToolResult(call, "Declined: no such host", is_error=True, seconds=0.1)
    assert result_line(result_turn(ran, local_now())).endswith("→ failed: Declined: no such host")


def with_result(store, name: str):
    call = ToolCall("c", name, '{"query": "gateway"}')
    said = [
        *talk("Which boats are in the harbour?"),
        Turn(2, Role.ASSISTANT, "", use=ToolUse((call,))),
        result_turn(ToolResult(call, "The ferry Aurora, and the tug Boreas."), local_now()),
        *talk(*(f"Note {number} about paint and ropes." for number in range(60))),
    ]
    options = SessionOptions(budget=Budget(size=500))
    return session_on(store, conversation_of(store, said), options=options)


def test_a_result_is_recalled_under_the_name_of_its_call(store):
    session = with_result(store, "list_boats")
    window = session.preview("What did list_boats say about the tug Boreas?", Mode.JIT)
    (recalled,) = (each for each in window.segments if each.turn == 3)
    assert recalled.kind is Kind.RETRIEVED
    assert 'tool list_boats {"query": "gateway"}>' in recalled.text
    assert "the tug Boreas" in recalled.text


def test_what_was_requested_of_the_store_is_found_in_its_own_turns_alone(store):
    session = with_result(store, REQUEST_CONTEXT)
    window = session.preview("What about the tug Boreas?", Mode.JIT)
    assert 3 not in {segment.turn for segment in window.segments}
    assert 3 not in {row.turn for row in window.ledger}
