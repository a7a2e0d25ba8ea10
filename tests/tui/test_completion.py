"""Completions of the typed text; their list takes no keys other than its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from textual import events

from jitchat.tui.actions import COMMANDS
from jitchat.tui.chat.commands import Prompts
from jitchat.tui.chat.completion import (
    Begun,
    Choice,
    Kind,
    begun_at,
    choices_among,
    known_choices,
    names_beginning,
)
from tests.tui.support import TestBackend, demo_app, notices, ready, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from jitchat.tui.chat.screen import ChatScreen
    from tests.tui.conftest import Picture


@pytest.mark.parametrize(
    ("line", "begun"),
    [
        ("/mo", Begun(Kind.COMMAND, 0, "mo")),
        ("/git:rev", Begun(Kind.COMMAND, 0, "git:rev")),
        ("/mode ", Begun(Kind.MODE, 6, "")),
        ("/project my wo", Begun(Kind.PROJECT, 9, "my wo")),
        ("/persona re", Begun(Kind.PERSONA, 9, "re")),
        ("/why #1", Begun(Kind.TURN, 5, "1")),
        ("/etc/hosts", None),
        (" /mo", None),
        ("/new house", None),
        ("@re", Begun(Kind.NAME, 0, "re")),
        ("see @docs/k", Begun(Kind.PATH, 4, "docs/k")),
        ('see @"my no', Begun(Kind.PATH, 4, '"my no')),
        ("me@home", None),
        ("as in #", Begun(Kind.TURN, 6, "")),
        ("as in #depl", Begun(Kind.TURN, 6, "depl")),
        ("C#", None),
        ("# heading", None),
        ("", None),
    ],
)
def test_the_completed_text_is_found_at_the_end_of_a_line(line: str, begun: Begun | None) -> None:
    assert begun_at(line, len(line), is_first=True) == begun


def test_on_a_later_line_or_inside_a_word_no_command_is_completed() -> None:
    assert begun_at("/mo", 3, is_first=False) is None
    assert begun_at("/model", 3, is_first=True) is None
    assert begun_at("@re", 3, is_first=False) == Begun(Kind.PATH, 0, "re")


def test_commands_are_listed_with_their_help_and_prefix_matches_come_first() -> None:
    prompts = Prompts(sentences={"git:mode": "takes file"})
    choices = known_choices(Begun(Kind.COMMAND, 0, "mode"), prompts)
    assert choices is not None
    assert [each.text for each in choices] == ["/model", "/mode", "/git:mode"]
    assert choices[0].about.startswith("Model: Choose a model")
    assert known_choices(Begun(Kind.TURN, 0, "1"), prompts) is None


def test_arguments_are_found_by_a_substring() -> None:
    named = [Choice("openai/gpt-5-mini"), Choice("ollama/llama3.2")]
    assert choices_among(Begun(Kind.MODEL, 7, "GPT"), named) == named[:1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("notes.md", "Numbers.csv", "meeting notes.md", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "nested").mkdir()
    (tmp_path / "nested" / "deep.py").touch()
    return tmp_path


def test_modes_come_before_paths_and_a_path_with_spaces_is_quoted(folder: Path) -> None:
    (folder / "recent.md").touch()
    names = names_beginning(Begun(Kind.NAME, 0, "rec"), folder)
    assert [each.text for each in names] == ["@recency", "@recent.md"]
    quoted = names_beginning(Begun(Kind.PATH, 4, '"meet'), folder)
    assert quoted == [Choice('@"meeting notes.md"')]


# In the chat


def shown(screen: ChatScreen) -> list[str]:
    """Return the first words of the list; empty if it is closed."""
    box = screen.surfaces.completions
    rows = (str(box.get_option_at_index(n).prompt).split()[0] for n in range(box.option_count))
    return list(rows) if box.display else []


async def typed(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*("space" if sign == " " else sign for sign in text))
    await pilot.pause()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_description_of_every_command_fits_at_80_columns(name: str) -> None:
    rest = max(map(len, COMMANDS)) + len(" /  ") + 3  # with the cursor and the scrollbar
    assert rest + len(COMMANDS[name].sentence) <= 80


async def test_a_command_is_completed_and_one_that_is_complete_runs(
    backend: TestBackend, picture: Picture
) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        prompt = screen.surfaces.prompt
        await typed(pilot, "/mo")
        assert shown(screen)[:2] == ["/model", "/mode"]
        await picture(pilot, "completion")
        await pilot.press("down", "tab")
        await pilot.pause()
        assert prompt.text == "/mode "
        assert shown(screen)[:2] == ["full", "recency"]
        await typed(pilot, "re")
        await pilot.press("enter")
        assert (prompt.text, shown(screen)) == ("/mode recency", [])
        await pilot.press("enter")
        await until(pilot, lambda: screen.steering.mode == "recency", "the mode")
        assert prompt.text == ""

        await typed(pilot, "/mode full")
        await pilot.press("enter")
        await until(pilot, lambda: screen.steering.mode == "full", "an exact command")


async def test_esc_closes_the_list_and_a_paste_opens_none(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        prompt = screen.surfaces.prompt
        await typed(pilot, "/m")
        await pilot.press("escape")
        await typed(pilot, "o")
        assert (prompt.text, shown(screen)) == ("/mo", [])
        prompt.clear()
        await pilot.pause()
        prompt.post_message(events.Paste("/mo"))
        await pilot.pause()
        assert (prompt.text, shown(screen)) == ("/mo", [])
        await pilot.press("backspace")
        await pilot.pause()
        assert shown(screen)[0] == "/model"


async def test_a_burst_of_keys_is_not_completed_from_an_outdated_list(
    backend: TestBackend,
) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await typed(pilot, "/mo")
        for sign in "de full":
            screen.surfaces.prompt.post_message(events.Key("space" if sign == " " else sign, sign))
        screen.surfaces.prompt.post_message(events.Key("enter", "\r"))
        await until(pilot, lambda: screen.steering.mode == "full", "the command")


async def test_turns_are_found_by_number_and_by_word(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        prompt = screen.surfaces.prompt
        await typed(pilot, "as in #")
        await until(pilot, lambda: shown(screen)[:1] == ["#60"], "the newest turn")
        assert screen.surfaces.completions.highlighted is None, "Enter would send it"
        await typed(pilot, "5")
        await until(pilot, lambda: shown(screen)[1:3] == ["#59", "#58"], "those that begin so")
        await pilot.press("down", "tab")
        assert prompt.text == "as in #59 "
        await typed(pilot, "#6")
        await until(pilot, lambda: shown(screen) == ["#6", "#60"], "the one itself, ahead")
        await pilot.press("down", "enter")
        assert prompt.text == "as in #59 #60 "
        await pilot.press("ctrl+w")
        await typed(pilot, "#metric")
        await until(pilot, lambda: len(shown(screen)) > 0, "those with the word")
        found = shown(screen)[0]
        await pilot.click("#completions", offset=(3, 0))
        await pilot.pause()
        assert prompt.text == f"as in #59 {found} "
        assert prompt.has_focus


async def test_an_answer_can_be_typed_and_an_invalid_one_is_reported(backend: TestBackend) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await typed(pilot, "/allow maybe")
        await pilot.press("enter")
        told = "/allow takes one of once, conversation, always, decline."
        await until(pilot, lambda: told in notices(pilot), told)
