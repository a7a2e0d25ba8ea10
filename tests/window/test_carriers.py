"""Which segment carries a turn, and which statements name it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from jitchat.statements import Distilled, DocumentLine, MemoryDocument, Section, Source
from jitchat.values import Mode, Status
from jitchat.window import reasons
from jitchat.window.carriers import carriers, lines_on, statements_in
from jitchat.window.plan import plan
from jitchat.window.record import header_fields, ledger_fields, segment_fields, window_from
from jitchat.window.tokens import message_tokens
from jitchat.window.window import Kind
from tests.window.cases import shortlist
from tests.window.test_statements import BUDGET, COUNTER, NOON, observed, sources, talk


def test_observations_carry_the_turns_that_they_stand_for_and_no_others() -> None:
    window = plan(
        Mode.OBSERVE, sources(observed(110), pinned=(7,), retrieval=shortlist(8)), BUDGET, COUNTER
    )
    carrier = carriers(window)
    kinds = [found.kind if (found := carrier(turn)) else None for turn in talk(122)]
    assert kinds[6] is Kind.PINNED
    assert kinds[7] is Kind.RETRIEVED
    assert set(kinds[:6] + kinds[8:110]) == {Kind.OBSERVATIONS}
    assert kinds[110] is None
    assert set(kinds[118:120]) == {Kind.RECENT}
    assert kinds[120] is Kind.DRAFT
    assert kinds[121] is None


def test_no_statement_carries_what_no_window_may_show_or_what_the_user_keeps_out() -> None:
    known = sources(observed(110), without={3: reasons.EXCLUDED})
    price = partial(message_tokens, COUNTER)
    taken = replace(known, history=known.history.without({3}, price))
    carrier = carriers(plan(Mode.OBSERVE, taken, BUDGET, COUNTER))
    turns = talk(4)
    assert carrier(turns[2]) is None
    assert carrier(replace(turns[3], status=Status.UNANSWERED)) is None
    assert carrier(turns[3]) is not None


def test_the_statements_that_name_a_turn_are_found_as_they_are_written() -> None:
    window = plan(Mode.OBSERVE, sources(observed(110)), BUDGET, COUNTER)
    assert lines_on(window, 2, "demo") == ("- 12:00 [high] The port is 9641. (#1–#2)",)
    assert lines_on(window, 3, "demo") == ()
    assert lines_on(plan(Mode.FULL, sources(observed(110)), BUDGET, COUNTER), 2, "demo") == ()


def test_a_line_of_the_document_is_of_its_own_conversation() -> None:
    line = DocumentLine(Section.FACTS, "The port is 9641.", Source(1, 2, "demo"), NOON.date())
    distilled = Distilled(document=MemoryDocument((line,), 4), in_document=110)
    window = plan(Mode.DOCUMENT, sources(distilled), BUDGET, COUNTER)
    assert lines_on(window, 1, "demo") == ("- The port is 9641. (2026-03-02) (demo #1–#2)",)
    assert lines_on(window, 1, "other") == ()


def test_up_to_which_turn_statements_stand_is_stored_with_the_window() -> None:
    window = plan(Mode.OBSERVE, sources(observed(110)), BUDGET, COUNTER)
    assert window.distilled_through == 110
    segments, rows = map(segment_fields, window.segments), map(ledger_fields, window.ledger)
    assert window_from(header_fields(window), list(segments), list(rows)) == window
    assert statements_in(window) is not None
