"""What the prompt takes for an action, and what it sends."""

from __future__ import annotations

import pytest

from jitchat.tui.actions import COMMANDS
from jitchat.tui.chat.commands import (
    Addressed,
    Command,
    Prompts,
    addressed_in,
    command_in,
    hint_on,
    message_in,
    mistyped,
    mode_within,
    turn_ahead,
)
from jitchat.values import Mode


@pytest.mark.parametrize(
    ("draft", "command"),
    [
        ("/model", Command("model")),
        ("/MODEL  ", Command("model")),
        ("/model openai/gpt-5-mini", Command("model", "openai/gpt-5-mini")),
        ("/model  claude   haiku ", Command("model", "claude haiku")),
        ("/mode full", Command("mode", "full")),
        ("/mode", Command("mode")),
        ("/new\n", Command("new")),
        ("/once full", Command("once", "full")),
        ("/pin #12", Command("pin", "#12")),
        ("/why 9", Command("why", "9")),
        ("/why #9 which port,\nand why?", Command("why", "#9 which port,\nand why?")),
        ("/compare which port?", Command("compare", "which port?")),
    ],
)
def test_a_slash_and_a_name_is_an_action(draft: str, command: Command) -> None:
    assert command_in(draft) == command


@pytest.mark.parametrize(
    "draft",
    [
        "/etc/hosts is wrong",
        "/tmp is full",
        "/ model",
        " /model",
        "what is /model",
        "/1",
        "model",
        "",
    ],
)
def test_a_path_a_sentence_or_a_blank_ahead_make_a_message(draft: str) -> None:
    assert command_in(draft) is None
    assert message_in(draft) == draft
    assert not mistyped(draft)


@pytest.mark.parametrize(
    "draft", ["/mode full stop", "/new house, new luck", "/help me", "/model\nis what they call it"]
)
def test_what_begins_with_a_command_is_no_message_and_is_given_back(draft: str) -> None:
    assert command_in(draft) is None
    assert message_in(draft) == ""
    assert "To send this as a message, put a space before it." in mistyped(draft)


@pytest.mark.parametrize(
    ("argument", "turn"),
    [
        ("12 which port?", ("12", "which port?")),
        ("#12", ("12", "")),
        ("which port is 12?", ("", "which port is 12?")),
        ("12th of May?", ("", "12th of May?")),
    ],
)
def test_the_turn_that_is_asked_about_stands_first(argument: str, turn: tuple[str, str]) -> None:
    assert turn_ahead(argument) == turn


@pytest.mark.parametrize("name", COMMANDS)
def test_every_action_can_be_typed_alone(name: str) -> None:
    assert command_in(f"/{name}") == Command(name)


@pytest.mark.parametrize("draft", ["/nonsense", "/Modle ", "/etc", "/"])
def test_a_lone_word_that_is_no_command_is_not_sent(draft: str) -> None:
    assert "Not sent: there is no command /" in mistyped(draft)
    assert message_in(draft) == ""


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


@pytest.mark.parametrize(
    ("draft", "told"),
    [
        ("/wh", "/why"),
        ("/m", "/model  /mode  /mattered"),
        ("/zz", "no command /zz"),
        ("/why 12", "/why · Explain why turn 12 is in or out"),
        ("/help me", "/help takes no argument"),
    ],
)
def test_what_enter_does_is_told_while_a_command_is_typed(draft: str, told: str) -> None:
    assert hint_on(draft).startswith(told)


PROMPTS = Prompts(
    frozenset({"harbour", "my-notes", "late"}),
    {"harbour:greet": "takes name* · Greets", "my-notes:weekly": ""},
)


@pytest.mark.parametrize(
    ("draft", "command"),
    [
        ("/harbour:greet", Command("harbour:greet")),
        ("/harbour:greet name=Ada\nand Bo ", Command("harbour:greet", "name=Ada\nand Bo")),
        ("/my-notes:weekly", Command("my-notes:weekly")),
    ],
)
def test_a_prompt_of_a_server_is_typed_as_a_command(draft: str, command: Command) -> None:
    assert command_in(draft, PROMPTS) == command
    assert message_in(draft, PROMPTS) == ""
    assert not mistyped(draft, PROMPTS)
    assert message_in(draft) == draft


def test_a_prompt_that_its_server_does_not_have_is_not_sent() -> None:
    for typed in ("/harbour:gret Ada", "/late:any"):
        assert "its server is not ready." in mistyped(typed, PROMPTS)
        assert message_in(typed, PROMPTS) == ""
    assert message_in("/c:drive is full", PROMPTS) == "/c:drive is full"


@pytest.mark.parametrize(
    ("draft", "told"),
    [
        ("/h", "/help  /history  /harbour:greet"),
        ("/harbour:", "/harbour:greet"),
        ("/my-", "/my-notes:weekly"),
        ("/harbour:greet name=", "/harbour:greet · takes name* · Greets"),
    ],
)
def test_prompts_of_servers_are_told_while_they_are_typed(draft: str, told: str) -> None:
    assert hint_on(draft, PROMPTS) == told


@pytest.mark.parametrize(
    ("draft", "is_told"),
    [("#12 and @full which port?", True), ("@full which port?", False), ("me@full now", False)],
)
def test_a_mode_in_the_middle_is_told_to_be_text(draft: str, is_told: bool) -> None:
    assert bool(mode_within(draft)) is is_told
