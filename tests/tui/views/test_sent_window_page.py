"""What the view of sends draws: differences that add up, and messages as they left."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jitchat.store.windows import Send
from jitchat.tui.figures import identity_sentence
from jitchat.tui.views.difference_rows import SHOWN, diff_columns, diff_rows
from jitchat.tui.views.sent_window_page import (
    Table,
    diff_table,
    first_place,
    ledger_table,
    message_text,
    window_lines,
)
from jitchat.tui.views.sent_windows import again, size_of
from jitchat.tui.views.view import Subject
from jitchat.tui.widgets.turn_table import Line, draw
from jitchat.values import Mode, Role, Status, Turn
from jitchat.window.budget import Budget
from jitchat.window.compare import SAME
from jitchat.window.steering import Once
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow, Kind, Segment
from tests.examples import examples
from tests.window.cases import Case, cases

quick = examples(16)
SAID = Turn(1, Role.USER, "hello")


def compared(before: ContextWindow, after: ContextWindow) -> Table:
    return diff_table(before, after, (1, 2))


def lines_of(table: Table) -> list[str]:
    columns = table.columns(120) if callable(table.columns) else table.columns
    return [
        item.text if isinstance(item, Line) else str(draw(columns, item)) for item in table.items
    ]


def window_of(case: Case, mode: Mode) -> ContextWindow:
    window = case.window(mode, EstimateCounter())
    assume(isinstance(window, ContextWindow))
    assert isinstance(window, ContextWindow)
    return window


def numbers(text: str) -> list[int]:
    found = re.findall(r"[−+]?\d[\d,]*", text)
    return [int(each.replace(",", "").replace("−", "-")) for each in found]


@quick
@given(cases(), st.sampled_from(list(Mode)), st.sampled_from(list(Mode)), st.booleans())
def test_the_differences_that_are_told_add_up(case: Case, mode: Mode, other: Mode, brief: bool):
    before, after = window_of(case, mode), window_of(case, other)
    if brief:
        after = window_of(replace(case, system="x", pinned=()), other)
    *lines, sums, together, first, second = lines_of(compared(before, after))
    assert sum(numbers(" ".join(re.findall(r"\(.*?\)", sums)))) == after.used - before.used
    assert numbers(together) == [after.used - before.used, before.used, after.used]
    for line, window in ((first, before), (second, after)):
        assert line.endswith(identity_sentence(window))
        _, used, free, reserve, limit = numbers(line)
        assert used + free + reserve == limit
    rows = [line for line in lines if line[:8].strip() in ("entered", "left", "moved", "changed")]
    changes = [numbers(line[50:58])[0] for line in rows]
    assert sum(changes) == after.used - before.used


@quick
@given(cases(), st.sampled_from(list(Mode)))
def test_copied_segments_add_up_and_no_line_is_more_than_one(case: Case, mode: Mode):
    window = window_of(case, mode)
    head, *lines = window_lines(window)
    used, free, reserve, limit = numbers(head)
    assert used + free + reserve == limit
    assert sum(numbers(line[17:25])[0] for line in lines) == used
    for line in (*lines, *lines_of(ledger_table(window))):
        assert line.isprintable()


@quick
@given(cases(), st.sampled_from(list(Mode)))
def test_two_windows_that_are_the_same_differ_in_nothing(case: Case, mode: Mode):
    window = window_of(case, mode)
    assert lines_of(compared(window, window))[0] == SAME


def test_of_thousands_of_differences_the_rest_is_one_sum():
    before = ContextWindow(
        *(Mode.FULL, "m", "c", True, Budget(), (), (), None, 0, 0),
    )
    many = tuple(
        Segment(Kind.RECENT, Role.USER, "x", 2, turn, "why") for turn in range(1, SHOWN + 4)
    )
    lines = lines_of(compared(before, replace(before, segments=many)))
    assert lines[SHOWN] == "  … 3 more turns entered, +6 tokens"
    assert lines[SHOWN + 2].startswith(f"entered {SHOWN + 3} (+{2 * SHOWN + 6}) · left 0 (+0)")
    assert compared(before, before).title == "send 1 full 0 → send 2 full 0"


def test_a_turn_that_is_new_gone_or_another_kind_has_a_row_with_both_figures():
    segments = tuple(
        Segment(kind, Role.USER, "x", size, turn, "why")
        for kind, size, turn in (
            (Kind.INDEX, 19, 12), (Kind.RETRIEVED, 1_044, 31), (Kind.RETRIEVED, 31, 9),
            (Kind.INDEX, 19, 31),
        )
    )  # fmt: skip
    empty = ContextWindow(*(Mode.JIT, "m", "c", True, Budget(), (), (), None, 0, 0))
    before, after = replace(empty, segments=segments[:2]), replace(empty, segments=segments[2:])
    rows = diff_rows(before, after)
    columns = diff_columns(rows)
    assert [" ".join(str(draw(columns, row)).split()) for row in rows] == [
        "entered #9 — retrieved 31 +31 why",
        "left #12 index — 19 −19",
        "moved #31 retrieved index 1,044 19 −1,025 why",
    ]


def test_messages_are_written_out_and_cut_where_they_are_endless():
    segments = tuple(
        Segment(Kind.RECENT, Role.USER, text, 2, turn, "why")
        for turn, text in enumerate(["a\x1b[2J", "b" * 5_000], start=1)
    )
    window = ContextWindow(*(Mode.FULL, "m", "c", True, Budget(), segments, (), None, 0, 0))
    whole = message_text(window)
    assert whole.startswith("── message 1 of 2: user ──\na\x1b[2J\n── message 2 of 2: user ──\nbbb")
    assert len(whole) > 5_000
    assert message_text(window, 1_000) == whole[:1_000] + ("\n── truncated; Y copies everything ──")
    assert message_text(window, 10_000) == whole


@pytest.mark.parametrize(
    ("typed", "size"), [("", None), (" ", None), ("500", 500), ("30720", 30_720)]
)
def test_a_size_that_the_model_takes_is_taken(typed, size):
    budget, refusal = size_of(typed, Budget())
    assert (budget.size if budget else None, refusal) == (size, "")


@pytest.mark.parametrize("typed", ["0", "-5", "30721", "9" * 5_000, "x"])
def test_another_one_is_refused(typed):
    budget, refusal = size_of(typed, Budget())
    assert budget is None
    assert refusal == "The size must be from 1 to 30,720 tokens."


def test_an_answered_message_is_answered_beside_and_an_unanswered_one_in_its_place():
    unanswered = replace(SAID, position=5, status=Status.UNANSWERED, parent=2)
    assert again(SAID, None).again is SAID
    assert again(unanswered, None) == Once(after=2)


def test_a_wanted_window_is_opened_and_not_the_last_of_its_turn():
    one = Send(
        *(1, 1, None, None, Mode.JIT, "m", "p", {}, {}, 0, 0, True, None, None, None, "", None)
    )
    sends = [replace(one, window_id=each, said=said) for each, said in ((4, 1), (5, 1), (6, 3))]
    subject = Subject(*(None, None, "", Mode.JIT), chosen=SAID)  # type: ignore[arg-type]
    assert [first_place(sends, subject, each) for each in (4, 6, None, 99)] == [0, 2, 1, 1]
    assert first_place(sends, replace(subject, chosen=None), None) == 2
