"""Ctrl+F: visits the matches in all turns and highlights those on screen."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from textual import events
from textual.widgets import Input, Static

from jitchat.store.search import Filter, midnight
from jitchat.text.search_tokens import find_folded
from jitchat.tui.chat.find import matches_in
from jitchat.tui.widgets.found_marks import CURRENT, FOUND, pattern_of
from jitchat.tui.widgets.input_lines import FindLine
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from tests.support import ScriptedProvider, talk
from tests.tui.drawn import on_screen
from tests.tui.support import TestBackend, chat, demo_app, ready, until

LONG = "\n\n".join(f"Paragraph {number} about **nothing** at all." for number in range(60))


def marked(transcript: Transcript) -> list[str]:
    """Return the highlighted texts in view, in order; the current match in capitals."""
    look = transcript.look
    current, other = look.style(CURRENT), look.style(FOUND)
    texts = []
    for piece in (piece for row in transcript._rows for piece in row.line):
        if piece.style.reverse == current.reverse:
            texts.append(piece.text.upper())
        elif piece.style.background == other.background:
            texts.append(piece.text.lower())
    return texts


def test_a_match_ignores_case_and_may_span_a_line_break():
    turns = talk("The Deploy\n  window, the deploy window.", "Nothing.", "(DEPLOY WINDOW)")
    pattern = pattern_of(" deploy window ")
    assert pattern is not None
    assert matches_in(turns, pattern) == [(1, 0), (1, 1), (3, 0)]
    assert pattern_of("  ") is None
    assert matches_in(turns, pattern_of("(d") or pattern) == [(3, 0)]
    said_on = midnight(date(2026, 3, 2))
    dated = [replace(turn, created_at=said_on + timedelta(turn.position)) for turn in turns]
    assert matches_in(dated, pattern, Filter(after=date(2026, 3, 4))) == [(3, 0)]
    assert matches_in(dated, None, Filter(before=date(2026, 3, 5))) == [(1, 0), (2, 0)]


@pytest.mark.parametrize(
    ("text", "wanted", "marked"),
    [
        ("in der Straße hier", "STRASSE", "Straße"),
        ("ＨＴＴＰ５００ here", "http500", "ＨＴＴＰ５００"),
        ("a cafe\N{COMBINING ACUTE ACCENT} here", "caf\u00e9", "cafe\N{COMBINING ACUTE ACCENT}"),
        ("the caf\u00e9", "cafe", "caf\u00e9"),
        ("soft\u00adly, softly", "softly", "soft\u00adly"),
        ("oﬃce", "ff", "ﬃ"),
        ("Ёлка, ｶﾞﾗｽ", "ガラス", "ｶﾞﾗｽ"),
        ("two\u00a0words", "two words", "two\u00a0words"),
        ("my  c++ (1)", "C++ (", "c++ ("),
    ],
)
def test_a_match_is_what_a_search_of_all_conversations_takes_for_equal(
    text: str, wanted: str, marked: str
):
    pattern = pattern_of(wanted)
    assert pattern is not None
    start, end = find_folded(pattern, text)[0]
    assert text[start:end] == marked


async def test_matches_in_all_turns_are_visited_and_the_focus_is_restored(
    backend: TestBackend,
) -> None:
    said = [f"point {number}" for number in range(300)]
    said[3] = f"{LONG}\n\nThe **needle**, and one more needle.\n\n{LONG}"  # a reply
    said[290] = "A needle here, in a message."
    made = backend.store.create("Long")
    backend.store.append(made.id, talk(*said))
    async with demo_app(backend).run_test(size=(120, 40)) as pilot:
        screen = chat(pilot)
        await screen.open(made)
        await ready(pilot)
        transcript, line = screen.query_one(Transcript), screen.query_one(FindLine)
        transcript.focus()
        for key in ("ctrl+f", *"needle"):  # in a burst: what is behind the key is looked for
            pilot.app.post_message(events.Key(key, key if len(key) == 1 else None))
        count = screen.query_one("#find-count", Static)
        await until(pilot, lambda: str(count.content) == "3 of 3", "the match below")
        await until(pilot, lambda: marked(transcript) == ["NEEDLE"], "the mark in it")

        await pilot.press("enter")
        await until(pilot, lambda: str(count.content) == "1 of 3", "round to the first")
        await until(pilot, lambda: marked(transcript) == ["NEEDLE", "needle"], "both marks")
        await until(pilot, lambda: in_view(transcript, "The needle"), "the paragraph in view")
        await pilot.press("down", "up", "up")
        await until(pilot, lambda: str(count.content) == "3 of 3", "back again")

        await pilot.press("escape")
        await pilot.pause()
        assert not line.is_open
        assert screen.focused is transcript
        assert marked(transcript) == []


def in_view(transcript: Transcript, text: str) -> bool:
    return any(text in row for row in on_screen(transcript))


async def test_a_search_without_matches_is_reported_and_the_draft_is_kept(
    backend: TestBackend,
) -> None:
    backend.provider = ScriptedProvider()
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        screen.query_one(Prompt).insert("a draft")
        await pilot.press("ctrl+f", *"xyzzy")
        count = screen.query_one("#find-count", Static)
        await until(pilot, lambda: str(count.content) == "no match", "that there is none")
        screen.query_one("#find", Input).value = "demo after:2026-13"
        await until(pilot, lambda: "is not a date" in str(count.content), "what is wrong")
        screen.query_one("#find", Input).value = "after:2026-01 deploy"
        await until(pilot, lambda: "1 of" in str(count.content), "what was said since")
        screen.query_one("#find", Input).value = "xyzzy"  # while the match is being shown
        await until(pilot, lambda: str(count.content) == "no match", "that there is none again")
        await pilot.press("enter", "escape")
        assert isinstance(screen.focused, Prompt)
        assert screen.query_one(Prompt).text == "a draft"
        await pilot.press("ctrl+f")
        assert screen.query_one("#find", Input).value == "xyzzy"
