"""The messages of a request: one system message, first; two sides that take turns."""

from __future__ import annotations

import pytest

from jitchat.providers.protocols.dialogue import Run, dialogue
from jitchat.values import Message, Role


def messages(*pairs: tuple[str, str]) -> tuple[Message, ...]:
    roles = {"s": Role.SYSTEM, "u": Role.USER, "a": Role.ASSISTANT, "t": Role.TOOL}
    return tuple(Message(roles[letter], text) for letter, text in pairs)


def written(window: tuple[Message, ...], **how: bool) -> list[tuple[str, str]]:
    return [(each["role"][0], each["content"]) for each in dialogue(window, **how).as_objects()]


def test_a_second_system_message_joins_the_first_one_wherever_it_stood():
    window = messages(("u", "a"), ("s", "one"), ("a", "b"), ("s", "two"))
    assert written(window) == [("s", "one\n\ntwo"), ("u", "a"), ("a", "b")]


def test_what_a_tool_said_goes_out_as_the_users():
    assert written(messages(("t", "21 °C"))) == [("u", "21 °C")]


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_blank_message_is_not_sent(blank):
    window = messages(("s", blank), ("u", "a"), ("a", blank), ("u", "b"))
    assert written(window) == [("u", "a\n\nb")]


def test_messages_of_one_role_in_a_row_make_one_run():
    window = messages(("u", "a"), ("u", "b"), ("a", "c"), ("u", "d"))
    runs = dialogue(window).runs
    assert runs == (
        Run(Role.USER, ("a", "b")),
        Run(Role.ASSISTANT, ("c",)),
        Run(Role.USER, ("d",)),
    )
    assert runs[0].text == "a\n\nb"


def test_a_server_that_takes_them_as_they_are_gets_each_by_itself():
    window = messages(("s", "x"), ("u", "a"), ("u", "b"))
    assert written(window, merging=False) == [("s", "x"), ("u", "a"), ("u", "b")]


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
    assert written(window, folding=True) == sent


def test_texts_are_sent_as_they_are():
    odd = " \u2028 \ud800 é\x00 "
    assert written((Message(Role.USER, odd),)) == [("u", odd)]
