"""The messages of a request: one system message, first; two sides that take turns."""

from __future__ import annotations

import pytest

from jitchat.values import Message, Role
from jitchat.writing.pieces import WritingRules
from jitchat.writing.write import write_messages


def messages(*pairs: tuple[str, str]) -> tuple[Message, ...]:
    roles = {"s": Role.SYSTEM, "u": Role.USER, "a": Role.ASSISTANT, "t": Role.TOOL}
    return tuple(Message(roles[letter], text) for letter, text in pairs)


def written(
    window: tuple[Message, ...], *, joins: bool = True, folds_system: bool = False
) -> list[tuple[str, str]]:
    rules = WritingRules(joins=joins, folds_system=folds_system)
    return [(each.role.value[0], each.content) for each in write_messages(window, rules)]


def test_a_second_system_message_joins_the_first_one_wherever_it_stood():
    window = messages(("u", "a"), ("s", "one"), ("a", "b"), ("s", "two"))
    assert written(window) == [("s", "one\n\ntwo"), ("u", "a"), ("a", "b")]


def test_what_a_tool_said_goes_out_as_the_users():
    assert written(messages(("t", "21 °C"))) == [("u", "21 °C")]


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_blank_message_is_not_sent(blank):
    window = messages(("s", blank), ("u", "a"), ("a", blank), ("u", "b"))
    assert written(window) == [("u", "a\n\nb")]


def test_messages_of_one_role_in_a_row_are_joined():
    window = messages(("u", "a"), ("u", "b"), ("a", "c"), ("u", "d"))
    assert written(window) == [("u", "a\n\nb"), ("a", "c"), ("u", "d")]


def test_a_server_that_takes_them_as_they_are_gets_each_by_itself():
    window = messages(("s", "x"), ("u", "a"), ("u", "b"))
    assert written(window, joins=False) == [("s", "x"), ("u", "a"), ("u", "b")]


@pytest.mark.parametrize(
    ("window", "sent"),
    [
        (messages(("s", "x"), ("u", "a"), ("a", "b")), [("u", "x\n\na"), ("a", "b")]),
        (messages(("s", "x"), ("a", "b"), ("u", "c")), [("u", "x"), ("a", "b"), ("u", "c")]),
        (messages(("s", "x")), [("u", "x")]),
        (messages(("u", "a")), [("u", "a")]),
    ],
)
def test_without_a_systems_role_its_text_leads_the_first_message(window, sent):
    assert written(window, folds_system=True) == sent


def test_texts_are_sent_as_they_are():
    odd = " \u2028 \ud800 é\x00 "
    assert written((Message(Role.USER, odd),)) == [("u", odd)]
