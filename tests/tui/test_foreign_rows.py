"""No row of a model's or a server's text can look like a row of jitchat's own."""

from __future__ import annotations

import json
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult

from jitchat.text.sanitize import CHANGED, for_terminal
from jitchat.tools.approvals import Claims, Question, changes_between, question_of
from jitchat.tools.mcp.elicitation import Field
from jitchat.tui.dialogs.form import FormScreen
from jitchat.tui.widgets.above_prompt import ApprovalLine
from jitchat.tui.widgets.foreign_text import BAR, ForeignText, barred
from jitchat.values import Tool, ToolCall

BITS = (
    "\n", "\r\n", "\r", "\t", " ", "        ", "│ ", "│", "\u2502\u2502", "\u2028", "\x85", "\x0b",
    "Allow files: read?", "Ctrl+O, then  1 once  2 this conversation  3 always  4 no",
    "Arguments:", "Description by files (unverified):", "x" * 200, "漢字" * 40, "👨‍👩‍👧‍👦" * 9,
    "e\u0301" * 30, "\u0301" * 30, "\u200b" * 200, "\u200d", "\u200d\u200d漢", "\u202e",
    "r\u200dm" * 80, "\x1b[2K\x1b[1A", "\x9b1A",
    "\U000e0041", "\ufe0f", "a b " * 90, "\u3000" * 60, "\u00a0" * 170, "ก็" * 40, "[bold]", "[/]",
)  # fmt: skip
HOSTILE = st.lists(st.one_of(st.sampled_from(BITS), st.text(max_size=20)), max_size=12).map("".join)


def asked(name: str, text: str, argument: str) -> Question:
    """A question all of whose foreign texts are hostile."""
    tool = Tool("files__read", text, json.dumps({"type": "object", "description": text}))
    call = ToolCall("1", tool.name, json.dumps({argument: text}))
    claims = Claims(name, (text, name))
    changes = changes_between(f"description: {argument}", f"description: {text}")
    return question_of("files", tool, claims, call, changes)


def headings_of(question: Question) -> list[str]:
    return [heading for heading, text in question.details if text]


def require_own_or_barred(rows: list[str], headings: list[str], width: int) -> None:
    """Every row is barred, but for the headings, wrapped, each once and in order."""
    own = [row for row in rows if row != BAR.rstrip() and not row.startswith(BAR)]
    assert " ".join(" ".join(own).split()) == " ".join(headings)
    assert max(map(cell_len, rows), default=0) <= width
    assert not re.search("\u200d[^\U0001f000-\U0001faff]", "".join(rows))
    assert not {*"".join(rows)} & {chr(code) for code in CHANGED}


@given(HOSTILE, HOSTILE, HOSTILE, st.integers(40, 160))
def test_every_row_of_foreign_text_has_a_bar(name: str, text: str, argument: str, width: int):
    question = asked(name, text, argument)

    rows = [row.plain for row in ForeignText(*question.details).rows(width)]

    require_own_or_barred(rows, headings_of(question), width)


@pytest.mark.parametrize("hidden", ["\u200c", "\u200d", "\ufe0f", "\ufe0e", "\u00ad", "\u202e"])
def test_an_argument_shows_each_character_that_a_terminal_hides(hidden: str):
    arguments = dict(asked("read", f"rm{hidden} -r", "path").details)["Arguments:"]
    assert f"rm\\u{ord(hidden):04x} -r" in arguments


@given(HOSTILE, st.integers(40, 160))
def test_wrapping_and_barring_loses_no_character(text: str, width: int):
    shown = dict(asked("read", text, "a").details)

    for part in shown.values():
        rows = [row.plain.removeprefix(BAR.rstrip()) for row in barred(part, width)]
        drawn = for_terminal(part).cells
        assert "".join("".join(rows).split()) == "".join(drawn.split())


class Rows(App[None]):
    """Shows a question or a form as the chat does."""

    def compose(self) -> ComposeResult:
        yield ApprovalLine()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 160])
async def test_the_rows_on_the_screen_are_those(width: int):
    draw = Random(width)
    async with Rows().run_test(size=(width, 200)) as pilot:
        line, details = pilot.app.query_one(ApprovalLine), pilot.app.query_one(ForeignText)
        for _ in range(12):
            name, text, argument = ("".join(draw.choices(BITS, k=9)) for _ in range(3))
            question = asked(name, text, argument)
            line.ask(question)
            await pilot.pause()
            rows = [details.render_line(y).text.rstrip() for y in range(details.size.height)]
            headings = headings_of(question)
            require_own_or_barred(rows, headings, details.size.width)
            (own,) = [str(widget.render()) for widget in line.query("#approval-asked").results()]
            assert own == "Allow files: read? It has changed since you always allowed it."


@pytest.mark.parametrize("width", [40, 80, 160])
async def test_a_form_of_a_server_has_bars_before_its_texts(width: int):
    draw = Random(width)
    texts = ["".join(draw.choices(BITS, k=9)) for _ in range(4)]
    field = Field("a", texts[0], "string", texts[1])
    form = FormScreen("files asks", texts[2], [field], url=texts[3])
    async with App[None]().run_test(size=(width, 300)) as pilot:
        await pilot.app.push_screen(form)
        await pilot.pause()
        for widget in form.query(ForeignText):
            rows = [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]
            headings = ["Open this address yourself if you trust it:"] * (
                widget.id == "form-message"
            )
            require_own_or_barred(rows, headings, widget.size.width)
