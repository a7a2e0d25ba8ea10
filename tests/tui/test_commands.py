"""What the prompt takes for an action, and what it sends."""

from __future__ import annotations

import pytest

from jitchat.tui.commands import (
    COMMANDS,
    Addressed,
    Command,
    addressed_in,
    command_in,
    mistyped,
)
from jitchat.turn import Mode


@pytest.mark.parametrize(
    ("draft", "command"),
    [
        ("/model", Command("model")),
        ("  /MODEL  ", Command("model")),
        ("/model openai/gpt-5-mini", Command("model", "openai/gpt-5-mini")),
        ("/model  claude   haiku ", Command("model", "claude haiku")),
        ("/mode full", Command("mode", "full")),
        ("/mode", Command("mode")),
        ("/new\n", Command("new")),
        ("/once full", Command("once", "full")),
        ("/pin #12", Command("pin", "#12")),
        ("/why 9", Command("why", "9")),
    ],
)
def test_a_slash_and_a_name_is_an_action(draft: str, command: Command) -> None:
    assert command_in(draft) == command


@pytest.mark.parametrize(
    "draft",
    [
        "/etc/hosts",
        "/models",
        "/ model",
        "model",
        "/mode full stop",
        "/new house, new luck",
        "/help me",
        "/model\nis what they call it",
        "what is /model",
        "/",
        "",
    ],
)
def test_a_path_a_sentence_or_two_lines_are_a_message(draft: str) -> None:
    assert command_in(draft) is None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_action_can_be_typed_alone(name: str) -> None:
    assert command_in(f"/{name}") == Command(name)


@pytest.mark.parametrize("draft", ["/nonsense", " /Modle "])
def test_a_lone_word_that_is_no_command_is_not_sent(draft: str) -> None:
    assert "There is no command /" in mistyped(draft)


@pytest.mark.parametrize("draft", ["/model", "/etc/hosts", "/tmp is full", "what is /model", "/1"])
def test_a_message_that_begins_with_a_slash_is_a_message(draft: str) -> None:
    assert not mistyped(draft)


@pytest.mark.parametrize(
    ("draft", "addressed"),
    [
        ("@full and now?", Addressed("and now?", Mode.FULL)),
        (" @JIT\n\ntwo\nlines", Addressed("two\nlines", Mode.JIT)),
        ("@recency", Addressed("", Mode.RECENCY)),
        ("@fully aware", Addressed("@fully aware")),
        ("mail me@full now", Addressed("mail me@full now")),
        ("and @full", Addressed("and @full")),
        ("", Addressed("")),
    ],
)
def test_a_mode_ahead_of_a_message_is_read_off(draft: str, addressed: Addressed) -> None:
    assert addressed_in(draft) == addressed
