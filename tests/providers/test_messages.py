"""The messages of a request: one system message, first; two sides that take turns."""

from __future__ import annotations

import pytest

from jitchat.providers.protocols.requests import Run, as_objects, folded, merged, system_and_rest
from jitchat.values import Message, Role


def messages(*pairs: tuple[str, str]) -> tuple[Message, ...]:
    roles = {"s": Role.SYSTEM, "u": Role.USER, "a": Role.ASSISTANT, "t": Role.TOOL}
    return tuple(Message(roles[letter], text) for letter, text in pairs)


def written(objects: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(each["role"][0], each["content"]) for each in objects]


def test_a_second_system_message_joins_the_first_one_wherever_it_stood():
    window = messages(("u", "a"), ("s", "one"), ("a", "b"), ("s", "two"))
    assert system_and_rest(window) == ("one\n\ntwo", messages(("u", "a"), ("a", "b")))
    assert written(as_objects(window)) == [("s", "one\n\ntwo"), ("u", "a"), ("a", "b")]


def test_what_a_tool_said_goes_out_as_the_users():
    assert system_and_rest(messages(("t", "21 °C"))) == ("", messages(("u", "21 °C")))


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_blank_message_is_not_sent(blank):
    window = messages(("s", blank), ("u", "a"), ("a", blank), ("u", "b"))
    assert written(as_objects(window)) == [("u", "a\n\nb")]


def test_messages_of_one_role_in_a_row_make_one_run():
    window = messages(("u", "a"), ("u", "b"), ("a", "c"), ("u", "d"))
    assert merged(window) == (
        Run(Role.USER, ("a", "b")),
        Run(Role.ASSISTANT, ("c",)),
        Run(Role.USER, ("d",)),
    )
    assert merged(window)[0].text == "a\n\nb"


def test_a_server_that_takes_them_as_they_are_gets_each_by_itself():
    window = messages(("s", "x"), ("u", "a"), ("u", "b"))
    assert written(as_objects(window, merging=False)) == [("s", "x"), ("u", "a"), ("u", "b")]


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
    assert written(as_objects(window, folding=True)) == sent


def test_a_turn_is_still_known_after_the_systems_text_was_put_before_it():
    assert folded("x", (Message(Role.USER, "a", 7),)) == (Message(Role.USER, "x\n\na", 7),)


def test_texts_are_sent_as_they_are():
    odd = " \u2028 \ud800 é\x00 "
    assert written(as_objects((Message(Role.USER, odd),))) == [("u", odd)]
