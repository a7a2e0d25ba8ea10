"""Epochs: a window goes on from the one before, byte for byte, until it is composed anew."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.attachments import Attachment, Part
from jitchat.statements import Distilled, Observation, Observations, Source
from jitchat.values import Mode, Retrieval, Role, Turn
from jitchat.window.budget import Budget
from jitchat.window.files import FileSources
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.record import header_fields, ledger_fields, segment_fields, window_from
from jitchat.window.window import ContextWindow, FileRef, Kind, Segment
from jitchat.writing.pieces import WritingRules
from tests.examples import examples
from tests.support import talk
from tests.window.cases import conversations, shortlist, turns_of
from tests.window.test_recent import COUNTER, priced

BUDGET = Budget(limit=100_000, size=3_000)
TALK = talk(*(f"turn {number} " + "words " * 60 for number in range(1, 121)))
"""A hundred and twenty turns of about a hundred tokens."""


def history_of(turns: list[Turn]) -> History:
    return History().extended(turns, priced)


def window_at(
    said: int,
    before: ContextWindow | None = None,
    found: Retrieval | None = None,
    turns: list[Turn] = TALK,
    mode: Mode = Mode.JIT,
    **more: object,
) -> ContextWindow:
    """The window of the message after `said` turns."""
    found = shortlist(*range(1, max(2, said - 8), 7)) if found is None else found
    sources = Sources(history_of(turns[:said]), turns[said], "model", retrieval=found)
    sources = replace(sources, before=before, is_cached=before is not None, **more)
    return plan(mode, sources, BUDGET, COUNTER)


def replayed(turns: list[Turn] = TALK, **more: object) -> list[ContextWindow]:
    """The windows of all messages of a talk."""
    windows: list[ContextWindow] = []
    for said in range(0, len(turns), 2):
        windows.append(window_at(said, windows[-1] if windows else None, turns=turns, **more))
    return windows


def texts(window: ContextWindow) -> list[tuple[object, ...]]:
    return [(each.role, each.content) for each in window.messages()]


def goes_on(before: ContextWindow, after: ContextWindow) -> bool:
    """Whether a request begins with all of the one before."""
    old, new = texts(before), texts(after)
    return new[: len(old)] == old and before.tools == after.tools


def test_a_file_that_the_message_is_about_comes_in_once():
    part = Part("", "The pump must be primed before it is started. " * 5)
    file = Attachment("manual.txt", "5" * 64, "text/plain", 0, (part,), turn=3)
    turns = [*TALK]
    for said in (80, 82, 84):
        turns[said] = replace(turns[said], content="summarise manual.txt")
    windows: list[ContextWindow | None] = [None]
    for said in (80, 82, 84):
        window = window_at(said, windows[-1], turns=turns, files=FileSources((file,)))
        there = [each for each in window.segments if each.kind is Kind.FILES]
        assert [(each.file.name, each.file.is_whole) for each in there] == [("manual.txt", True)]
        assert window.used <= BUDGET.size
        windows.append(window)
    started = window_at(80, turns=turns)
    after = window_at(82, started, turns=turns, files=FileSources((file,)))
    assert goes_on(started, after)
    assert [each.file.name for each in after.segments if each.file] == ["manual.txt"]


def test_a_request_begins_with_the_one_before_it_and_the_reply():
    before = window_at(80)
    after = window_at(82, before)
    old, new = texts(before), texts(after)
    assert new[: len(old)] == old
    assert new[len(old)][1] == TALK[81].content, "the reply to it"
    assert new[-1][1].endswith(TALK[82].content)
    assert len(new) == len(old) + 2
    assert after.used <= BUDGET.size


def observations(*texts: str, through: int = 70) -> Distilled:
    lines = (Observation(text, Source(number, number)) for number, text in enumerate(texts, 1))
    return Distilled(Observations(tuple(lines), through))


def test_the_head_of_a_window_stays_until_the_window_is_composed_anew():
    observed, known = Mode.OBSERVE, observations("The port is 9641.", "Ana lives in Oslo.")
    before = window_at(80, mode=observed, distilled=known)
    more = observations("The port is 9641.", "Ana lives in Oslo.", "Bo left.", through=78)
    after = window_at(82, before, mode=observed, distilled=more)
    assert goes_on(before, after)
    assert after.distilled_through == 70
    anew = window_at(82, mode=observed, distilled=more)
    assert anew.distilled_through == 78
    assert any("Bo left." in each.text for each in anew.segments)


def test_a_window_is_composed_anew_when_a_line_of_its_head_does_not_hold_any_more():
    observed, known = Mode.OBSERVE, observations("The port is 9641.", "Ana lives in Oslo.")
    before = window_at(80, mode=observed, distilled=known)
    for changed in (observations("The port is 80.", "Ana lives in Oslo."), observations()):
        after = window_at(82, before, mode=observed, distilled=changed)
        assert not goes_on(before, after)
        assert not any("9641" in each.text for each in after.segments)


def test_in_a_long_talk_most_requests_go_on_and_none_exceeds_the_size():
    windows = replayed()
    assert max(window.used for window in windows) <= BUDGET.size
    going_on = [goes_on(*pair) for pair in pairwise(windows)]
    assert sum(going_on) >= 0.7 * len(going_on)
    assert not all(going_on), "when it is full, it is composed anew"


def test_what_was_recalled_stays_and_is_not_recalled_again():
    before = window_at(80, found=shortlist(9))
    after = window_at(82, before, found=shortlist(9, 30))
    assert [turns_of(after, Kind.RETRIEVED).count(turn) for turn in (9, 30)] == [1, 1]
    rows = {row.turn: row for row in after.ledger}
    assert rows[9].reason == "in the window since #81"
    assert rows[30].reason == "picked"


def test_a_message_is_recalled_for_within_its_allowance_and_what_is_there_counts():
    before = window_at(80, found=shortlist(*range(1, 40)))
    held = set(turns_of(before, Kind.RETRIEVED))
    again = window_at(82, before, found=shortlist(*sorted(held), *range(60, 70)))
    new = set(turns_of(again, Kind.RETRIEVED)) - held
    other = window_at(82, before, found=shortlist(*range(60, 70)))
    assert len(new) < len(set(turns_of(other, Kind.RETRIEVED)) - held)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("an excluded turn that it carries", {"without": {9: "excluded by you"}}),
        ("other instructions", {"system": "Be brief."}),
        ("an expired cache", {"is_cached": False}),
        ("other rules of writing", {"rules": WritingRules(user_first=True, joins=True)}),
    ],
)
def test_what_changes_the_beginning_has_the_window_composed_anew(
    name: str, more: dict[str, object]
):
    before = window_at(80, found=shortlist(9))
    history = history_of(TALK[:82])
    if "without" in more:
        more = {**more, "history": history.without({9}, priced)}
    sources = Sources(history, TALK[82], "model", retrieval=shortlist(30))
    sources = replace(sources, **{"before": before, "is_cached": True, **more})
    window = plan(Mode.JIT, sources, BUDGET, COUNTER)
    is_same_text = name == "other rules of writing" and goes_on(before, window)
    assert is_same_text or 9 not in turns_of(window, Kind.RETRIEVED), name


def test_a_turn_that_is_asked_for_or_pinned_comes_into_the_window_that_goes_on():
    before = window_at(80, found=shortlist(9))
    window = window_at(82, before, wanted=frozenset({20}), pinned=(31,))
    assert goes_on(before, window)
    reasons = {segment.turn: segment.reason for segment in window.segments}
    assert reasons[20] == "you asked for #20"
    assert reasons[31] == "pinned by you"


def test_a_stored_window_is_gone_on_from_like_the_one_in_memory():
    for before in (window_at(80), window_at(82, window_at(80))):
        stored = window_from(
            header_fields(before),
            [segment_fields(segment) for segment in before.segments],
            [ledger_fields(row) for row in before.ledger],
        )
        here, read = window_at(84, before), window_at(84, stored)
        assert goes_on(before, here)
        assert texts(here) == texts(read)
        assert [each.tokens for each in here.segments] == [each.tokens for each in read.segments]


def test_no_epoch_fits_into_a_small_window():
    small = replace(BUDGET, size=1_500)
    windows: list[ContextWindow] = []
    for said in range(60, 80, 2):
        sources = Sources(history_of(TALK[:said]), TALK[said], "model", retrieval=shortlist(9))
        before = windows[-1] if windows else None
        sources = replace(sources, before=before, is_cached=True, distilled=Distilled())
        windows.append(plan(Mode.JIT, sources, small, COUNTER))
    assert not any(goes_on(*pair) for pair in pairwise(windows))


@examples(16)
@given(conversations(), st.integers(2_000, 6_000), st.data())
def test_in_any_talk_the_size_holds_and_every_turn_is_told_of(
    turns: tuple[Turn, ...], size: int, data: st.DataObject
):
    budget, before = Budget(limit=100_000, size=size), None
    for said in range(len(turns)):
        history = history_of(list(turns[:said]))
        wanted = data.draw(st.lists(st.integers(1, max(1, said)), max_size=4, unique=True))
        found = shortlist(*wanted) if said else Retrieval()
        sources = Sources(history, turns[said], "model", retrieval=found, before=before)
        window = plan(Mode.JIT, replace(sources, is_cached=True), budget, COUNTER)
        own = priced(turns[said].content) + 200
        assert window.used <= max(size, own)
        assert window.used == sum(segment.tokens for segment in window.segments)
        told = {row.turn for row in window.ledger} | {each.turn for each in window.segments}
        rest = window.never_candidates.turns if window.never_candidates else 0
        shown = set(history.positions)
        assert len(shown - told) == rest
        before = window


def test_the_prefix_has_what_is_carried_and_nothing_of_the_message():
    before = window_at(80, found=shortlist(9))
    after = window_at(82, before, found=shortlist(9, 30))
    assert (before.since, after.since) == (None, 81)
    carried = Segment(Kind.TOOL_CALLS, Role.ASSISTANT, "", 5, 82, "called by the model")
    own = FileRef("notes.md", 83, "a1")
    file = Segment(Kind.FILES, Role.USER, "…", 9, None, "attached in full", file=own)
    place = len(after.stable)
    segments = (*after.segments[:place], carried, file, *after.segments[place:])
    assert replace(after, segments=segments).stable == (*after.stable, carried)
