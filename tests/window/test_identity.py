"""What holds for every window there can be, whatever it is made from."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given

from jitchat.values import Mode, Retrieval, Role
from jitchat.window.files import FileSources
from jitchat.window.render import READING
from jitchat.window.tokens import EstimateCounter, TokenCounter, message_tokens, request_tokens
from jitchat.window.window import ContextWindow, Kind, Verdict
from tests.examples import examples
from tests.window.cases import Case, cases, turns_of
from tests.window.counters import Characters, Lines, Words

if TYPE_CHECKING:
    from jitchat.errors import WindowOverflow
    from jitchat.window.history import History

COUNTERS = (EstimateCounter(), Characters(), Words(), Lines())
quick = examples(16)
ORDER = list(Kind)
BLOCKS = (Kind.PINNED, Kind.FILES, Kind.DOCUMENTS, Kind.INDEX, Kind.RETRIEVED)
"""Kinds that are sent in tags."""


def check(case: Case, counter: TokenCounter) -> None:
    """Every promise that a window makes by itself or beside its siblings."""
    windows = {mode: case.window(mode, counter) for mode in Mode}
    for window in windows.values():
        if isinstance(window, ContextWindow):
            check_sum(window, counter)
            check_shape(window, case)
            check_ledger(window, case)
            check_sum_of_the_rest(window, case.history(counter))
            check_steering(window, case, counter)
        else:
            assert window.overshoot > 0
    check_full(windows[Mode.FULL], case, counter)
    check_jit(windows[Mode.JIT], windows[Mode.FULL], case, counter)
    check_size(windows[Mode.JIT], case, counter)


def check_sum(window: ContextWindow, counter: TokenCounter) -> None:
    segments = sum(segment.tokens for segment in window.segments)
    assert segments + window.free + window.budget.reserve == window.budget.limit
    messages = window.messages()
    assert window.used == (request_tokens(counter, messages) if messages else 0)
    assert window.free >= 0
    assert all(segment.tokens >= 0 for segment in window.segments)
    assert sum(window.tokens_of(kind) for kind in Kind) == window.used


def check_shape(window: ContextWindow, case: Case) -> None:
    messages, kinds = window.messages(), [segment.kind for segment in window.segments]
    ordered = [kind for kind in kinds if kind is not Kind.FILES]
    assert ordered == sorted(ordered, key=ORDER.index)
    for file, behind in pairwise(window.segments):
        if file.kind is Kind.FILES and behind.kind is not Kind.FILES:
            assert not behind.kind.is_stable or behind.turn == file.file.turn
    assert kinds.count(Kind.DRAFT) == 1
    draft = window.segments[-1]
    assert draft.kind is Kind.DRAFT
    if draft.text:  # a blank message is not sent
        assert messages[-1].role is Role.USER
        assert messages[-1].content.endswith(draft.text)
        assert draft.text.endswith(case.draft.content)
    assert "".join(m.content for m in messages) == "".join(s.text for s in window.segments)
    check_system(window, case)
    assert Role.TOOL not in {m.role for m in messages}
    for kind in (Kind.PINNED, Kind.RECENT, Kind.INDEX):
        turns = [s.turn for s in window.segments if s.kind is kind]
        assert turns == sorted(set(turns)), "each turn once, in order"
    of_no_turn = (Kind.SYSTEM, Kind.INDEX, Kind.FILES, Kind.DOCUMENTS)
    at_full_text = [s.turn for s in window.segments if s.kind not in of_no_turn]
    assert len(at_full_text) == len(set(at_full_text))


def check_system(window: ContextWindow, case: Case) -> None:
    """Check that the user's instructions are sent as they are, and blocks with an explanation."""
    parts = [segment for segment in window.segments if segment.kind is Kind.SYSTEM]
    instructions = case.system if case.system.strip() else ""
    assert (parts[0].text, parts[0].reason) == (instructions, "instructions")
    assert all(part.text.strip() == READING for part in parts[1:])
    has_blocks = any(segment.kind in BLOCKS for segment in window.segments)
    is_read = len(parts) == 2
    assert is_read or not has_blocks
    assert is_read == has_blocks or case.files or (window.mode.recalls and not is_whole(window))
    whole = "".join(part.text for part in parts)
    sent = [m.content for m in window.messages() if m.role is Role.SYSTEM]
    assert sent == ([whole] if whole else [])


def is_whole(window: ContextWindow) -> bool:
    """Whether a window has every turn that the user does not keep out."""
    everything = ("whole conversation sent", "all but the excluded turns sent")
    return any(s.reason.startswith(everything) for s in window.segments)


def check_ledger(window: ContextWindow, case: Case) -> None:
    rows = {row.turn: row for row in window.ledger}
    assert len(rows) == len(window.ledger)
    assert [row.rank for row in window.ledger if row.rank] == [
        row.rank for row in case.retrieval.candidates
    ]
    there = window.kind_of_turns()
    for row in window.ledger:
        assert row.reason
        sent_as = there.get(row.turn)
        wanted = Verdict.LEFT_OUT if sent_as in (None, Kind.DRAFT) else Verdict(sent_as.value)
        assert row.verdict is wanted
    told = rows.keys() | {turn for turn in there if turn is not None}
    assert {hit.turn for hit in case.retrieval.hits} <= told


def check_sum_of_the_rest(window: ContextWindow, history: History) -> None:
    """Rows, segments and the sum are the whole history, no turn twice."""
    told = {row.turn for row in window.ledger} | window.kind_of_turns().keys()
    priced = zip(history.turns, history.costs, strict=True)
    rest = [cost for turn, cost in priced if turn.position not in told]
    never = window.never_candidates
    assert (never.turns, never.tokens) == (len(rest), sum(rest)) if never else not rest


def check_steering(window: ContextWindow, case: Case, counter: TokenCounter) -> None:
    """What is kept out is told of and not there; what is pinned, or asked for, is in jit.

    If there is no room for it, it is told of.
    """
    history = case.history(counter)
    there, rows = window.kind_of_turns(), {row.turn: row for row in window.ledger}
    assert history.taken_out.keys() <= case.excluded & rows.keys()
    assert all(rows[turn].reason == "excluded by you" for turn in history.taken_out)
    assert case.excluded.isdisjoint(there)
    if window.mode is not Mode.JIT:
        return
    known = {turn.position for turn in history.turns}
    full_text = {turn for turn, kind in there.items() if kind is not Kind.INDEX}
    for turn in known.intersection(case.pinned) - full_text:
        assert rows[turn].reason.startswith("pinned by you, but it would need ")
    for turn in (known & case.wanted) - full_text - set(case.pinned):
        assert rows[turn].reason.startswith(f"you asked for #{turn}, but it would need ")


def check_full(full: ContextWindow | WindowOverflow, case: Case, counter: TokenCounter) -> None:
    everything = [t.position for t in case.history(counter).turns]
    if isinstance(full, ContextWindow):
        assert [s.turn for s in full.segments if s.kind is Kind.RECENT] == everything
        assert full.used == full.full_tokens
    else:
        bigger = replace(case.budget, limit=case.budget.limit + full.overshoot)
        roomy = replace(case, budget=bigger)
        window = roomy.window(Mode.FULL, counter)
        assert isinstance(window, ContextWindow)
        assert window.free == 0 or not case.draft.content.strip()


def check_jit(
    jit: ContextWindow | WindowOverflow,
    full: ContextWindow | WindowOverflow,
    case: Case,
    counter: TokenCounter,
) -> None:
    if isinstance(full, ContextWindow):
        assert isinstance(jit, ContextWindow)
        assert jit.used <= full.used or case.files
    recency = case.window(Mode.RECENCY, counter)
    plain = case.window(Mode.JIT, counter, pinned=False)
    if isinstance(recency, ContextWindow):
        assert isinstance(plain, ContextWindow)
        last = case.history(counter).positions[case.history(counter).exchanges_back(1) :]
        has_room = recency.used + message_tokens(counter, READING) <= case.budget.most
        if has_room and set(last) <= set(turns_of(recency, Kind.RECENT)):
            assert set(last) <= set(turns_of(plain, Kind.RECENT)) or case.files


def check_size(jit: ContextWindow | WindowOverflow, case: Case, counter: TokenCounter) -> None:
    """Nothing but the message exceeds the size, and its files come in addition."""
    own = tuple(file for file in case.files.files if file.turn == case.draft.position)
    alone = replace(case, turns=(), retrieval=Retrieval(), files=FileSources(own))
    message = alone.window(Mode.JIT, counter)
    if isinstance(jit, ContextWindow) and isinstance(message, ContextWindow):
        files = message.tokens_of(Kind.FILES)
        least = message.used - files + message_tokens(counter, READING)
        assert jit.used <= max(case.budget.most, least) + files


@quick
@given(case=cases())
def test_every_window_keeps_the_promises_whatever_counts(case: Case) -> None:
    for counter in COUNTERS:
        check(case, counter)


@quick
@given(case=cases())
def test_every_window_keeps_the_promises_with_a_real_vocabulary(
    o200k: TokenCounter, case: Case
) -> None:
    check(case, o200k)
