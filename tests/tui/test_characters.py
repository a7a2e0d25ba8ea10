"""What is typed, pasted, edited, sent again, copied and exported is one text, byte for byte."""

from __future__ import annotations

import asyncio
import html
import re
import unicodedata
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from textual import events
from textual.app import App, ComposeResult
from textual.style import Style

from jitchat.text.markdown.html import html_of
from jitchat.text.sanitize import for_terminal
from jitchat.transfer.exports import EXPORTS
from jitchat.tui.driver import InputReader
from jitchat.tui.render.verbatim import verbatim
from jitchat.tui.widgets.line_view import Part
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.transcript import Transcript
from jitchat.tui.widgets.turn_table import Column, TurnTable
from tests.examples import examples
from tests.support import ScriptedProvider
from tests.tui.drawn import blocks, body_of
from tests.tui.render.looks import look
from tests.tui.support import chat, demo_app, idle, notices, ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.tui.support import TestBackend

BLANKS = "\u3000\u00a0\u202f\u2009\u2003\u200c\u200d\u200e"
"""The blanks and joiners that people type."""
HIDDEN = "\u202e\u2067x\u2069\u061c\u00ad\u200b\u2060\ufeff\u034f\u180e\u3164\U000e0067\U000e007f"
LINES = "\u2028\u2029"
CLUSTERS = "e\u0301 क्षि 👩‍👩‍👧 🇩🇪🇫🇷 각 நி ❤️ 🫨"
ANY = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=40)
TEXTS = st.lists(ANY, min_size=1, max_size=3).map("\n".join)


def type_as_terminal(pilot: Pilot[None], text: str) -> None:
    """Send each character as a terminal does, and line breaks as Ctrl+J."""
    reader = InputReader()
    for character in text:
        for event in reader.events(character.encode()):
            pilot.app.post_message(event)


async def sent(pilot: Pilot[None], text: str) -> None:
    """Send the prompt, and check the text that was stored and sent."""
    screen = chat(pilot)
    provider = screen.backend.provider
    before = len(provider.requests)
    assert screen.query_one(Prompt).draft == text
    await pilot.press("enter")
    await until(pilot, lambda: len(provider.requests) > before, "the request")
    await idle(pilot)
    stored = next(
        turn for turn in reversed(screen.opening.session.memory.turns) if turn.role == "user"
    )
    assert stored.content.encode() == text.encode()
    assert text in provider.requests[-1][-1].content


def exported(pilot: Pilot[None], name: str) -> str:
    screen, written = chat(pilot), StringIO()
    EXPORTS[name].write(screen.backend.store, [screen.opening.conversation], written.write)
    return written.getvalue()


async def check_text(backend: TestBackend, text: str) -> None:
    typed, pasted = f"typed {text}", f"pasted {text}"
    app = demo_app(backend)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        backend.provider = screen.opening.session.provider = ScriptedProvider((f"Reply {text}",))
        prompt = screen.query_one(Prompt)
        type_as_terminal(pilot, typed)
        await until(pilot, lambda: prompt.text == typed, "the typed text")
        await sent(pilot, typed)
        prompt.post_message(events.Paste(pasted.replace("\n", "\r\n")))
        await until(pilot, lambda: prompt.draft == pasted, "the pasted text")
        await sent(pilot, pasted)

        await pilot.press("up", "home", *"more ", "end")
        await until(pilot, lambda: "more " in prompt.text, "the edited text")
        first, feed, rest = pasted.rpartition("\n")
        edited = prompt.text
        assert edited.replace("more ", "", 1).encode() == pasted.encode(), (first, feed, rest)
        prompt.select_all()
        await pilot.press("ctrl+c")
        prompt.action_copy()
        assert app.clipboard.encode() == edited.encode()
        await sent(pilot, edited)

        transcript = screen.query_one(Transcript)
        transcript.focus()
        await pilot.press("y")
        assert app.clipboard.encode() == f"Reply {text}".encode()
        said = next(each for each in reversed(blocks(screen)) if each.turn.role == "user")
        screen.selections = {transcript: body_of(said)}
        screen.action_copy_text()
        assert app.clipboard.encode() == edited.encode().rstrip(b"\n")

        markdown, page = exported(pilot, "markdown"), exported(pilot, "html")
        for whole in (typed, pasted, edited, f"Reply {text}"):
            assert f"\n\n{whole}\n" in markdown
            assert whole in html.unescape(page) or html_of(whole) in page
        assert app.is_running


@settings(examples(4), suppress_health_check=[*HealthCheck])
@given(TEXTS)
@example(f"{BLANKS}a{BLANKS}\n{HIDDEN}b {LINES}\n\n{CLUSTERS} end")
def test_every_character_arrives_where_it_belongs(backend: TestBackend, text: str) -> None:
    asyncio.run(check_text(backend, text))


@examples(200)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.data())
def test_a_selection_is_the_source_of_the_selected_cells(text: str, data: st.DataObject) -> None:
    shown = for_terminal(text)
    start = data.draw(st.integers(0, len(shown.cells)))
    end = data.draw(st.integers(start, len(shown.cells)))
    assert for_terminal(shown.source_between(start, end)).cells == shown.cells[start:end]
    drawn = Part("body", *verbatim(look(200), (text, Style())))
    after = (len(drawn.lines), 0)
    assert drawn.copied((0, 0), after) == text
    line = shown.cells[:start].count("\n")
    column = start - (shown.cells.rfind("\n", 0, start) + 1)
    if start and "\t" not in text and shown.cells[start:].split("\n")[0].strip(" "):
        assert drawn.copied((line, column), after) == shown.source_between(start, len(shown.cells))


def test_drawn_text_cannot_become_a_string_again() -> None:
    with pytest.raises(TypeError):
        f"{for_terminal('a')}"
    assert not isinstance(for_terminal("a"), str)


@pytest.mark.parametrize(
    ("pasted", "kept", "notice"),
    [
        ("a\x1b[2Jb", "a[2Jb", "1 control character was left out of the paste."),
        ("\x00a\x07\x85\x9b", "a", "4 control characters were left out of the paste."),
        ("a\tb\r\nc\rd", "a\tb\nc\nd", None),
        (HIDDEN, HIDDEN, None),
    ],
)
async def test_what_is_refused_in_a_paste_is_named(
    backend: TestBackend, pasted: str, kept: str, notice: str | None
) -> None:
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        prompt = screen.query_one(Prompt)
        for event in InputReader().events(f"\x1b[200~{pasted}\x1b[201~".encode()):
            pilot.app.post_message(event)
        await until(pilot, lambda: prompt.text == kept, "the paste")
        told = [*notices(pilot), screen.surfaces.hint.notice]
        assert ((notice or "left out") in " ".join(told)) is bool(notice)


def test_every_category_of_character_but_controls_is_typed() -> None:
    from jitchat.tui.typed import accept_all_text

    accept_all_text()
    refused = {
        unicodedata.category(chr(code))
        for code in range(0x110000)
        if not events.Key("x", chr(code)).is_printable
    }
    assert refused == {"Cc", "Cs"}
    assert not events.Key("up", None).is_printable


def test_a_page_shows_a_text_that_begins_with_a_line_feed_or_has_carriage_returns() -> None:
    from jitchat.transfer.html_page import _preformatted

    for text in ("\n\nx", "a\r\nb\r", "\n<b>"):
        block = _preformatted(text)
        read = re.sub(r"^<pre>\n?", "", block).removesuffix("</pre>")
        assert html.unescape(read.replace("\r", "\n")) == text


async def test_the_rows_of_a_table_are_copied_as_they_are_and_drawn_safely() -> None:
    columns = [Column("name", lambda row: row, 12), Column("text", lambda row: f"{row}: x")]
    table = TurnTable(columns, id="table")

    class TableApp(App[None]):
        def compose(self) -> ComposeResult:
            yield table

    row = "a\x1b[2J\u202eb"
    async with TableApp().run_test(size=(60, 10)) as pilot:
        table.show([row])
        await pilot.pause()
        (copied,) = table.text()[1:]
        assert copied.split() == [row, f"{row}:", "x"]
        strips = pilot.app.screen._compositor.render_strips(pilot.app.size)
        assert "␛[2J\ufffdb      a␛[2J\ufffdb: x" in "".join(strip.text for strip in strips)
