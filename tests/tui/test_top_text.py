"""The first line at any width: the least important parts are dropped first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from jitchat.tui.widgets.top_line import TopLine, TopText, cut_in_the_middle, fitted
from jitchat.values import Reach
from tests.tui.support import TestBackend, demo_app, ready, until

MODEL = "a-very-long-model-name-of-2026-preview"
NAMES = "work", MODEL, "builtin-256", "~estimate"
WHOLE = TopText(*NAMES, title="Release planning (demo)", size="62 turns", cost="$0.0017")


@pytest.mark.parametrize(
    ("room", "left", "right"),
    [
        (120, "Release planning (demo) · 62 turns · $0.0017", WHOLE.status),
        (100, "Release planning (de… · $0.0017", WHOLE.status),
        (77, "Release planning (dem…", f"work {MODEL} · ~estimate"),
        (66, "Release pla…", "work a-very-long-model-…me-of-2026-preview · ~estimate"),
        (40, "Releas…", "work a-very-l…preview · ~estimate"),
        (30, "", "work a-very…review · ~estimate"),
    ],
)
def test_the_least_important_parts_are_dropped_first(room: int, left: str, right: str):
    text = fitted(WHOLE, room)

    assert (text.title + text.figures, text.status) == (left, right)
    assert text.width <= room


def test_the_title_outlasts_the_cost_and_model_and_the_mark_of_an_estimate_outlast_all():
    for room in range(30, 140):
        text = fitted(replace(WHOLE, title="日本語" * 9, state="indexing 1 of 300"), room)

        assert text.title or not text.cost
        assert text.status.endswith("~estimate")
        assert text.model
        assert text.width <= room


def test_a_name_is_cut_in_the_middle():
    assert cut_in_the_middle("claude-opus-4-5-20251101", 16) == "claude-o…0251101"
    assert cut_in_the_middle("gpt-5", 16) == "gpt-5"
    assert cell_len(cut_in_the_middle("模型" * 20, 16)) == 16


async def test_a_small_terminal_shows_what_must_stay_and_a_title_as_one_line(
    backend: TestBackend,
) -> None:
    """The store sanitizes titles too; titles written by other programs are sanitized only here."""
    backend.provider.model = MODEL  # type: ignore[misc]
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        screen = await ready(pilot)

        def line() -> str:
            return "".join(s.text for s in screen._compositor.render_strips()[0])

        await until(pilot, lambda: line().rstrip().endswith(" · ~estimate"), "the status")
        assert " jit " in line()
        assert line().startswith(" Release pl")
        await pilot.resize_terminal(150, 40)
        await until(pilot, lambda: "Release planning (demo) · 60 turns" in line(), "the title")
        known = screen.opening.conversation
        odd = replace(known, title="a\x1b[2J\nb\x9b31m\x07\u202ec", turns=3)
        screen.query_one(TopLine).show_conversation(odd, Reach.CONVERSATION, "")
        await pilot.pause()
        assert line().strip().startswith("a␛[2J b\ufffd31m␇\ufffdc · 3 turns")
        assert not [letter for letter in line() if letter in "\x1b\x9b\x07\n\u202e"]
