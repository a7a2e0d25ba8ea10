"""Asking in several modes at once, on screen: which, for how much, and which answer goes on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from jitchat.errors import Unreachable, WindowOverflow
from jitchat.events import AnswerProgress
from jitchat.providers.catalogue.table import Prices
from jitchat.providers.reader import ReaderProvider
from jitchat.session_options import SessionOptions
from jitchat.statements import Observation, Source
from jitchat.store.path import parent_of
from jitchat.store.windows import WindowArchive
from jitchat.tui.chat import previews
from jitchat.tui.views.ask_all import (
    AnswerColumn,
    AskAllView,
    figures_of,
    state_of,
    times_of,
    trouble_of,
)
from jitchat.tui.views.ledger import LedgerView
from jitchat.tui.views.view import Branched, GoTo, Note
from jitchat.tui.views.what_if import WhatIfView
from jitchat.tui.views.wire import WireView
from jitchat.tui.widgets.prompt import Prompt
from jitchat.tui.widgets.top_line import TopLine
from jitchat.values import Mode, Role, Status, Turn, Usage
from jitchat.window.window import ContextWindow
from tests.session.sending import durable
from tests.support import ScriptedProvider, demo_session, observe
from tests.tui.drawn import header, streams
from tests.tui.support import SMALL, TestBackend, demo_app, notices, ready, type_text, until
from tests.tui.test_screens import QUESTION

if TYPE_CHECKING:
    import pytest

FREE = SessionOptions(budget=SMALL, prices=Prices(0.0, 0.0))


def told(view: AskAllView) -> str:
    return str(view.query_one("#ask-all-note").render())


def answers(view: AskAllView) -> dict[Mode, AnswerProgress]:
    return view._asking.answers if view._asking is not None else {}


async def asked(pilot) -> AskAllView:
    """The view, once it asks; where it does not at once, after a yes."""
    await until(pilot, lambda: isinstance(pilot.app.screen, AskAllView), "the view")
    view = pilot.app.screen
    await until(pilot, lambda: view.confirms or view._asking is not None, "the windows")
    if view.confirms:
        await pilot.press("enter")
    await until(pilot, lambda: view._asking is not None, "the asking")
    return view


async def over(pilot, view: AskAllView) -> None:
    await until(pilot, lambda: view._asking is not None and view._asker is None, "its end")
    await pilot.pause()


async def the_heads_of_columns_are_whole(pilot, view: AskAllView) -> None:
    """Beside each other, where the times are no part of them."""
    await pilot.resize_terminal(160, 48)
    await until(pilot, lambda: not view.has_class("-narrow"), "columns")
    for mode, answer in answers(view).items():
        column = next(each for each in view.query(AnswerColumn) if each.mode is mode)
        head, figures = column.query_one(".answer-head"), column.query_one(".answer-figures")
        times = times_of(answer)
        await until(pilot, lambda w=figures, t=times: t in str(w.render()), "the times")
        assert str(head.render()).endswith("done")
        assert len(str(head.render())) <= head.size.width * head.size.height
    await pilot.resize_terminal(80, 24)
    await until(pilot, lambda: view.has_class("-narrow"), "one column")


async def test_the_reader_answers_from_each_window_and_one_answer_is_gone_on_with(
    backend: TestBackend,
) -> None:
    backend.provider = ReaderProvider(lambda messages, _, text: (len(messages), len(text)))
    backend.options = FREE
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        await pilot.press("f7")
        await until(pilot, lambda: isinstance(pilot.app.screen, WhatIfView), "what if")
        await pilot.press("a")
        view = await asked(pilot)
        await over(pilot, view)
        replies = view._asking.replies  # type: ignore[union-attr]
        assert told(view).startswith("Enter keeps the highlighted answer; Esc keeps jit's.")
        texts = {mode: answer.text for mode, answer in answers(view).items()}
        assert "02:00" in texts[Mode.JIT]
        assert "02:00" not in texts[Mode.RECENCY]
        assert list(texts) == [Mode.FULL, Mode.RECENCY, Mode.JIT]
        for column in view.query(AnswerColumn):
            assert column.display == (column.mode in texts)
            if not column.display:
                continue
            is_open = column.mode is Mode.JIT
            assert column.text.display == is_open
            shown = ".answer-figures" if is_open else ".answer-head"
            figures = str(column.query_one(shown).render())
            assert f"in {answers(view)[column.mode].usage.input_tokens:,} ✓" in figures  # type: ignore[union-attr]
            assert figures.endswith("free")
        heads = [str(head.render()) for head in view.query(".answer-head")]
        assert heads[0].startswith(" full  done")
        assert any(head.startswith(" jit = observe = document") for head in heads)
        await the_heads_of_columns_are_whole(pilot, view)
        await pilot.press("y")
        assert texts[Mode.FULL] in pilot.app.clipboard
        await pilot.press("tab")
        assert view.looked_at is Mode.FULL
        await pilot.press("4")
        assert view.looked_at is Mode.FULL
        assert "observe was not asked: its window is the same as that of jit." in notices(pilot)
        await pilot.press("f9")
        assert pilot.app.screen is view
        await pilot.press("2", "enter")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        last = screen.session.memory.turns[-1]  # type: ignore[union-attr]
        assert last.position == replies[Mode.RECENCY]
        assert screen.query_one(Prompt).text == ""
        await until(pilot, lambda: "of 3" in header(screen, last.position), "its versions")


async def test_the_price_is_asked_for_first_and_esc_keeps_what_came(backend: TestBackend) -> None:
    gate = asyncio.Event()
    backend.provider = ScriptedProvider(("Half of", gate))
    backend.options = SessionOptions(budget=SMALL, prices=Prices(10.0, 20.0))
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        for key in ("n", "escape"):
            await pilot.press("alt+a")
            view = await asks_for_the_price(pilot)
            assert "Ask full, recency and jit for ~$0.0" in told(view)
            heads = " ".join(str(each.render()) for each in view.query(".answer-figures"))
            assert heads.count("tokens · ~$0.0") == 3
            assert heads.count("same window as jit, sent once") == 2
            await pilot.press(*"lways", key)
            await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        assert backend.provider.requests == []
        assert screen.steering.next_message.text == QUESTION
        await pilot.press("alt+a")
        view = await asks_for_the_price(pilot)
        await pilot.press("enter")
        await asked(pilot)
        await until(pilot, lambda: all(a.text for a in answers(view).values()), "the pieces")
        assert {each.text.display for each in view.query(AnswerColumn)} == {True}
        await pilot.press("enter", "escape")
        await over(pilot, view)
        assert [state_of(answer) for answer in answers(view).values()] == ["stopped"] * 3
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        turns = screen.session.memory.turns  # type: ignore[union-attr]
        assert [turn.content for turn in turns[-2:]] == [QUESTION, "Half of"]
        assert turns[-1].status is Status.CANCELLED
        assert parent_of(turns[-1]) == turns[-2].position
        assert screen.query_one(Prompt).text == ""
        top = screen.query_one(TopLine)
        await until(pilot, lambda: top._text.cost.startswith("~$0.0"), "what the three cost")


async def test_only_what_is_ticked_is_asked(backend: TestBackend) -> None:
    backend.options = SessionOptions(budget=SMALL, prices=Prices(10.0, 20.0))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        note = Observation("The port is 9641.", Source(1, 40))
        observe(screen.session.memory, 50, note)  # type: ignore[union-attr]
        await type_text(pilot, QUESTION)
        await pilot.press("alt+a")
        view = await asks_for_the_price(pilot)
        assert "Ask full, recency, jit and observe for" in told(view)
        whole = told(view)
        await pilot.press("space", "f", "space")
        assert told(view).startswith("Ask recency and observe for ~$0.0")
        await pilot.press("5", "space")
        assert "document: same window as jit, sent once." in notices(pilot)
        await pilot.press("a")
        assert told(view) == whole
        for mode in "frjo":
            await pilot.press(mode, "space")
        await pilot.press("enter")
        assert told(view).startswith("Nothing is ticked.")
        assert view._asking is None
        await pilot.press("space", "enter")
        await over(pilot, await asked(pilot))
        assert list(answers(view)) == [Mode.OBSERVE]
        assert view.looked_at is Mode.OBSERVE
        assert told(view) == "Esc keeps the answer in observe."
        assert len(backend.provider.requests) == 1  # type: ignore[attr-defined]


async def test_as_many_columns_are_shown_as_have_room_and_the_one_looked_at_is_among_them(
    backend: TestBackend,
) -> None:
    backend.options = SessionOptions(budget=SMALL, prices=Prices(10.0, 20.0))
    async with demo_app(backend).run_test(size=(160, 48)) as pilot:
        await ready(pilot)
        await type_text(pilot, QUESTION)
        await pilot.press("alt+a")
        view = await asks_for_the_price(pilot)

        def shown() -> list[Mode]:
            return [column.mode for column in view.query(AnswerColumn) if column.display]

        assert shown() == list(Mode)
        await pilot.resize_terminal(150, 40)
        await until(pilot, lambda: shown() == list(Mode)[:4], "four of them")
        await pilot.press("5")
        assert shown() == list(Mode)[1:]


async def test_quitting_while_the_answers_stream_keeps_what_came(backend: TestBackend) -> None:
    backend.options = FREE
    backend.provider = ScriptedProvider(("Half of", asyncio.Event()))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        await ready(pilot)
        await type_text(pilot, QUESTION)
        await pilot.press("alt+a")
        view = await asked(pilot)
        await until(pilot, lambda: all(a.text for a in answers(view).values()), "the pieces")
        pilot.app.exit()
    found = durable(backend.store)
    assert [turn[2:] for turn in found.turns[-3:]] == [("Half of", "cancelled")] * 3
    assert (found.turns[-4][2:], found.streaming) == ((QUESTION, "complete"), 0)
    said = backend.store.turn("demo", 61)
    assert said is not None
    replies = WindowArchive(backend.store.database).replies_by_mode(said.id)
    assert backend.store.tree("demo").head == replies[Mode.JIT], "as the note says of Esc"


async def asks_for_the_price(pilot) -> AskAllView:
    await until(pilot, lambda: isinstance(pilot.app.screen, AskAllView), "the view")
    view = pilot.app.screen
    await until(pilot, lambda: "Enter asks" in told(view), "the question")
    return view


async def test_nothing_typed_is_lost_when_nobody_answers(backend: TestBackend) -> None:
    backend.options = FREE
    backend.provider = ScriptedProvider((Unreachable("Nobody is there.", "Start it."),))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await pilot.press("alt+a")
        await until(pilot, lambda: isinstance(pilot.app.screen, AskAllView), "the view")
        assert "Nothing to ask" in str(pilot.app.screen.query_one("#view-nothing").render())
        await pilot.press("escape")
        await type_text(pilot, QUESTION)
        await pilot.press("alt+a")
        view = await asked(pilot)
        await over(pilot, view)
        assert told(view).endswith("The message stays in the prompt.")
        trouble = view.query_one(".answer.-on .answer-trouble", Note)
        assert str(trouble.render()) == "Nobody is there. Start it."
        await pilot.press("enter", "escape")
        await until(pilot, lambda: pilot.app.screen is screen, "the chat")
        assert screen.query_one(Prompt).text == QUESTION
        assert screen.session.memory.turns[-1].status is Status.UNANSWERED  # type: ignore[union-attr]


async def test_what_was_just_typed_is_looked_at_and_asked_in_place_of_what_was_sent(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.options = FREE
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        await pilot.press("enter")
        await until(
            pilot, lambda: screen.previews.sent is not None and not screen.busy, "the reply"
        )
        monkeypatch.setattr(previews, "PREVIEW_AFTER", 3_600)
        screen.query_one(Prompt).insert("And who bakes the cake?")
        await until(pilot, lambda: screen.previews.working, "the wait for its window")
        await pilot.press("f3")
        await until(pilot, lambda: isinstance(pilot.app.screen, WireView), "the request")
        wire = pilot.app.screen
        await until(pilot, lambda: "bakes the cake?" in wire.copyable(), "the draft in it")
        await pilot.press("escape", "f4")
        await until(pilot, lambda: isinstance(pilot.app.screen, LedgerView), "the ledger")
        assert pilot.app.screen.subject.window is None
        assert pilot.app.screen.subject.sent is None
        await pilot.press("escape", "alt+a")
        view = await asked(pilot)
        await over(pilot, view)
        assert view._asking.said.content == "And who bakes the cake?"  # type: ignore[union-attr]


async def test_nothing_is_asked_or_gone_to_while_a_reply_is_on_its_way(
    backend: TestBackend,
) -> None:
    gate = asyncio.Event()
    backend.options, backend.provider = FREE, ScriptedProvider(("It is", gate))
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)
        await type_text(pilot, QUESTION)
        await pilot.press("enter")
        await until(pilot, lambda: streams(screen), "first words")
        await pilot.press("alt+a")
        assert pilot.app.screen is screen
        await pilot.press("f7")
        await until(pilot, lambda: isinstance(pilot.app.screen, WhatIfView), "what if")
        what_if = pilot.app.screen
        await pilot.press("a")
        assert pilot.app.screen is what_if
        await pilot.press("escape")
        for outcome in (GoTo(9), Branched(9)):
            await screen.views.follow(screen.session, outcome)
            assert streams(screen)
        assert len(backend.provider.requests) == 1  # type: ignore[attr-defined]


def test_figures_are_the_reported_ones_or_marked_as_estimates(store) -> None:
    window = demo_session(store).preview("?", Mode.JIT)
    assert isinstance(window, ContextWindow)
    answer = AnswerProgress(Mode.JIT, window, "Hm.", left_at=1.0, first_at=1.5)
    assert (state_of(answer), times_of(answer)) == ("answering…", "first 0.50 s")
    assert figures_of(answer) == f"in ~{window.used:,}"
    ended = answer.ended(3.0, None, 4)
    assert times_of(ended) == "first 0.50 s · all 2.00 s"
    assert figures_of(ended) == f"in ~{window.used:,} · out ~4 · cost unknown"
    reported = replace(answer, usage=Usage(1_187, 210)).ended(3.0, 0.0041, 4)
    assert figures_of(reported) == "in 1,187 ✓ · out 210 ✓ · $0.0041"
    assert figures_of(AnswerProgress(Mode.JIT)) == ""


def test_each_end_of_an_answer_has_a_word() -> None:
    reply = Turn(2, Role.ASSISTANT, "x", status=Status.CUT)
    error = WindowOverflow("Too large.", "Shorten it.", 3)
    ends = [
        AnswerProgress(Mode.FULL, error=error),
        AnswerProgress(Mode.FULL, error=Unreachable("Gone.")),
        AnswerProgress(Mode.FULL, left_at=1.0),
        AnswerProgress(Mode.FULL),
        AnswerProgress(Mode.FULL, reply=reply),
        AnswerProgress(Mode.FULL, reply=Turn(2, Role.ASSISTANT, "x")),
    ]
    words = [state_of(end.ended(2.0, None, 0)) for end in ends]
    assert words == ["does not fit", "failed", "stopped", "not asked", "cut", "done"]
    assert trouble_of(ends[0]) == "Too large. Shorten it."
    begun = [AnswerProgress(Mode.FULL), AnswerProgress(Mode.FULL, left_at=1.0)]
    begun.append(AnswerProgress(Mode.FULL, left_at=1.0, first_at=1.5))
    assert [state_of(each) for each in begun] == ["planning…", "waiting…", "thinking…"]
