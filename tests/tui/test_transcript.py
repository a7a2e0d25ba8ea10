"""Only part of a long conversation is mounted, and every turn can be reached."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, ComposeResult

from jitchat.tui.chat import screen as chat
from jitchat.tui.palette import palette
from jitchat.tui.widgets.reply import ReplyBody
from jitchat.tui.widgets.transcript import MOST, Transcript
from jitchat.tui.widgets.turn_view import TurnView
from jitchat.values import Role
from jitchat.window.window import Kind, Segment
from tests.support import talk
from tests.tui.support import until

if TYPE_CHECKING:
    import pytest
    from textual.pilot import Pilot
    from textual.widget import Widget

TURNS = talk(*(f"point {number}" for number in range(1, 1_001)))


class TranscriptApp(App[None]):
    CSS_PATH = Path(chat.__file__).with_suffix(".tcss")

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        return variables | palette(self.current_theme, variables)

    def compose(self) -> ComposeResult:
        yield Transcript()


def positions(transcript: Transcript) -> list[int]:
    return [view.turn.position for view in transcript.query(TurnView)]


def in_view(transcript: Transcript) -> list[TurnView]:
    views = transcript.query(TurnView)
    return [view for view in views if view.region.overlaps(transcript.content_region)]


async def paged(pilot: Pilot[None], transcript: Transcript, pages: int, goal: int) -> int:
    """Scroll when possible; return how many lines the text moved, 0 if the target is in view."""

    def line() -> int:
        """Return the line at the top of the screen; each of `TURNS` has three lines."""
        view = in_view(transcript)[0]
        return 3 * view.turn.position - view.region.y

    def is_there() -> bool:
        return goal in [view.turn.position for view in in_view(transcript)]

    def has_room() -> bool:
        return transcript.scroll_y != (transcript.max_scroll_y if pages > 0 else 0)

    await until(pilot, lambda: is_there() or has_room(), "more turns")
    if is_there():
        return 0
    before, moves = line(), pilot.app.animator.is_being_animated
    transcript.action_page(pages)
    await until(pilot, lambda: line() != before, "another place")
    await until(pilot, lambda: not moves(transcript, "scroll_y"), "the end of the movement")
    return line() - before


def part(kind: Kind) -> Segment:
    return Segment(kind, Role.USER, "", 0, None, "")


async def test_the_end_is_shown_marked_with_its_window_and_the_ends_are_one_key_away() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        await transcript.show(TURNS)
        await pilot.pause()
        assert positions(transcript)[-1] == 1_000
        assert len(positions(transcript)) < 60
        kinds = {
            1_000: Kind.RECENT,
            999: Kind.RETRIEVED,
            998: Kind.OBSERVATIONS,
            997: Kind.DOCUMENT,
        }
        parts = {turn: part(kind) for turn, kind in kinds.items()}
        transcript.mark(lambda turn: parts.get(turn.position))
        await pilot.pause()
        views = {view.turn.position: view for view in transcript.query(TurnView)}
        assert views[1_000].has_class("-recent")
        assert "retrieved" in str(views[999].query_one(".turn-header").render())
        assert "observed" in str(views[998].query_one(".turn-header").render())
        assert "in the document" in str(views[997].query_one(".turn-header").render())
        transcript.mark(lambda _: None)
        assert not views[1_000].has_class("-recent")
        transcript.focus()
        await pilot.press("home")
        await pilot.pause()
        assert positions(transcript)[0] == 1
        await pilot.press("end")
        await pilot.pause()
        assert positions(transcript)[-1] == 1_000


async def test_far_back_every_key_moves_one_turn_and_scrolling_to_an_end_mounts_more_in_order() -> (
    None
):
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        await transcript.show(TURNS)
        await transcript.show(TURNS, 500)
        view = next(v for v in transcript.query(TurnView) if v.turn.position == 500)
        await until(pilot, lambda: view.region.y == transcript.region.y, "the turn at the top")

        transcript.focus()
        await pilot.pause()
        transcript.point_at(501)
        for _ in range(4):  # faster than frames
            app.simulate_key("up")
        await until(pilot, lambda: transcript.chosen == TURNS[496], "four steps")

        for _ in range(2):
            transcript.scroll_end(animate=False)
            await pilot.pause()
            transcript.scroll_home(animate=False)
            await pilot.pause()
        found = positions(transcript)
        assert found == list(range(found[0], found[-1] + 1))
        assert found[0] < 488
        assert len(found) <= MOST + 20


async def test_paging_far_back_from_the_end_and_forward_again_skips_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jitchat.tui.widgets.transcript.MOST", 20)
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        await transcript.show(TURNS)
        await until(pilot, lambda: transcript.max_scroll_y > 0, "the end")
        app.animation_level = "full"
        while lines := await paged(pilot, transcript, -1, 976):
            assert -24 <= lines < 0
            app.animation_level = "none"
        assert positions(transcript)[-1] < 1_000
        while lines := await paged(pilot, transcript, 1, 1_000):
            assert 0 < lines <= 24
        await until(pilot, lambda: len(positions(transcript)) == 20, "no more than a stretch")
        assert positions(transcript) == list(range(981, 1_001))


async def test_a_growing_and_a_tall_terminal_are_filled() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        await transcript.show(TURNS)
        await pilot.pause()
        before = transcript.virtual_size.height
        tall = before + 10
        await pilot.resize_terminal(80, tall)
        await until(pilot, lambda: transcript.virtual_size.height > tall, "turns enough")
        for at in (None, 8):
            await transcript.show(TURNS[:1])
            await until(pilot, lambda: transcript.max_scroll_y == 0, "one turn alone")
            await transcript.show(TURNS, at)
            await until(pilot, lambda: transcript.max_scroll_y > 0, f"turns enough, at {at}")


async def test_the_cursor_and_the_gutter_restyle_a_turn_but_not_its_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        await transcript.show(talk("What is set?", "One.\n\n`two`"))
        transcript.focus()
        transcript.point_at(2)
        await pilot.pause()
        user, reply = transcript.query(TurnView)
        code = reply.query_one(ReplyBody)
        under_cursor = _grounds(code)
        styled: list[object] = []
        apply = app.stylesheet.apply
        monkeypatch.setattr(
            app.stylesheet, "apply", lambda node, **how: (styled.append(node), apply(node, **how))
        )
        transcript.point_at(1)
        reply.mark(part(Kind.RECENT))
        await pilot.pause()
        headers = {view.query_one(".turn-header") for view in (user, reply)}
        assert set(styled) == {user, reply} | headers
        assert reply.styles.outline_left[0] == "heavy"
        assert _grounds(code).isdisjoint(under_cursor)
        transcript.point_at(2)
        await pilot.pause()
        assert _grounds(code) == under_cursor


def _grounds(widget: Widget) -> set[object]:
    """Return the background colours of a widget's first line."""
    return {
        part.style.bgcolor for part in widget.render_line(0) if part.style and part.text.strip()
    }


async def test_a_reply_streams_into_its_own_turn() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        await transcript.show(TURNS[:1])
        for piece in ("It ", "is **now**", "\x1b[31m."):
            await transcript.stream(piece, 2)
        await transcript.put(talk("point 1", "It is **now**.")[1])
        await pilot.pause()
        assert positions(transcript) == [1, 2]
        assert transcript.query(".turn-body").last().source == "It is **now**."  # type: ignore[attr-defined]
