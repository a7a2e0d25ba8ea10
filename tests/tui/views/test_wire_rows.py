"""A request is cut into rows that lose nothing and mix nothing, and what is said of it is true."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.providers.protocols.protocol import protocol_names
from jitchat.providers.provider import Options, SentRequest
from jitchat.tui.views.wire import (
    GUTTER,
    LETTERS,
    Letter,
    as_left,
    legend,
    not_kept,
    not_sent,
    rows_of,
    sheet_of,
)
from jitchat.values import Mode
from jitchat.window.places import find_segments
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow, Kind
from tests.examples import examples
from tests.providers.test_wire import Server, asking
from tests.support import demo_session
from tests.window.cases import Case, cases
from tests.window.test_places import QUESTION

BLANKS = str.maketrans("", "", " \n\t")


def letter_of(window: ContextWindow, protocol: str = "openai") -> Letter:
    wire = asking(protocol, Server()).wire(window.messages(), Options(temperature=0.2))
    return Letter(window, wire, wire.body.decode(), "")


@given(cases(), st.sampled_from(protocol_names), st.booleans(), st.integers(10, 130))
@examples(16)
def test_the_rows_are_the_request_and_each_is_of_one_segment(case: Case, protocol, pretty, width):
    for mode in Mode:
        window = case.window(mode, EstimateCounter())
        if not isinstance(window, ContextWindow):
            continue
        whole, places = letter_of(window, protocol).laid_out(pretty=pretty)
        sheet = sheet_of(whole, places, width, parted=pretty)
        rows = sheet.rows
        runs = [kind for kind, _ in groupby(row.kind for row in rows if row.kind)]
        assert [rows[number].kind for number in sheet.begins] == runs
        slices = [row for row in rows if row.end is not None]
        assert "".join(whole[row.start : row.end] for row in slices) == whole.replace("\n", "")
        room = max(20, width - GUTTER)
        assert all(len(row.text(whole)) <= room and "\n" not in row.text(whole) for row in slices)
        assert all(len(row.gutter) == GUTTER or row.place.segment.turn > 9_999 for row in slices)
        check_kinds(window, rows, places)


def check_kinds(window: ContextWindow, rows, places) -> None:
    """Each segment's rows have its letter, and the boundary parts stable from volatile."""
    shown = [row.place for row in rows if row.place and row.start == row.place.start]
    assert shown == list(places)
    for row in rows:
        if row.place is not None:
            assert row.place.start <= row.start < row.end <= row.place.end
            assert row.gutter.startswith(LETTERS[row.place.segment.kind])
    edges = [number for number, row in enumerate(rows) if row.end is None]
    stable = set(map(id, window.stable))
    is_stable = [row.place and id(row.place.segment) in stable for row in rows]
    assert len(edges) == any(is_stable)
    for edge in edges:
        assert all(is_stable[number] for number in range(edge) if rows[number].place)
        assert not any(is_stable[edge:])


@given(cases())
@examples(16)
def test_the_figures_of_the_legend_add_up_to_the_limit(case: Case):
    for mode in Mode:
        window = case.window(mode, EstimateCounter())
        if isinstance(window, ContextWindow):
            told = [re.search(r"([\d,]+)(?: of ([\d,]+))?$", text) for _, text in legend(window)]
            counts = [int(found[1].replace(",", "")) for found in told]
            assert sum(counts) == int(told[-1][2].replace(",", "")) == window.budget.limit


def test_pretty_is_the_same_json_behind_the_same_head(store):
    letter = letter_of(demo_session(store).preview(QUESTION, Mode.JIT))
    (raw, _), (pretty, _) = (letter.laid_out(pretty=pretty) for pretty in (False, True))
    assert raw == letter.head + letter.body
    assert letter.head.startswith(
        "POST http://models.test/v1/chat/completions\nHost: models.test\n"
    )
    assert letter.head.endswith("Authorization: Bearer •••\n\n")
    assert pretty != raw
    assert pretty.translate(BLANKS) == raw.translate(BLANKS)


def test_a_request_of_a_megabyte_is_cut_to_its_last_byte(store):
    window = demo_session(store).preview(QUESTION, Mode.JIT)
    text = 'A "word"\nor two 🚢 ' * 50_000
    (piece,) = window.segments[-1].pieces
    large = replace(window.segments[-1], text=text, pieces=(replace(piece, text=text),))
    window = replace(window, segments=(*window.segments[:-1], large))
    letter = letter_of(window)
    assert len(letter.body) > 1_000_000
    whole, places = letter.laid_out(pretty=True)
    rows = rows_of(whole, places, 100, parted=True)
    assert rows[-2].end == rows[-1].start - 1
    assert find_segments(window, letter.body).missing == ()


def test_what_is_said_of_a_window_tells_whether_these_bytes_left(store):
    window = replace(demo_session(store).preview(QUESTION, Mode.JIT), model="m")
    provider = asking("openai", Server())
    wire = provider.wire(window.messages(), Options())
    posted = SentRequest("openai", wire.url, Options(), wire.sha256)
    start = wire.sha256[:8]
    size = f"{len(wire.body):,} bytes, body {start}…"
    assert not_sent(wire) == f"Not sent yet: {size}"
    assert as_left(posted, wire, provider, window) == f"As sent: {size} ✓"
    moved = replace(posted, url="http://old.test/v1")
    assert as_left(moved, wire, provider, window).endswith("✓ It was sent to http://old.test/v1.")
    other = replace(posted, sha256="0" * 64)
    assert "in another form, body 00000000…" in as_left(other, wire, provider, window)
    was = replace(window, model="old-1")
    told = as_left(other, wire, provider, was)
    assert told.startswith(
        f"It was sent for old-1 at {wire.url}, body 00000000…. This is the request"
    )
    assert told.endswith("for m of openai, which is in use now.")
    assert "The reader is in use now" in as_left(posted, None, provider, window)


@pytest.mark.parametrize(
    ("answered", "said"),
    [
        (None, "when the reply is complete; this is how it would be sent now."),
        ("reader", "Nothing was sent for it: the built-in reader answered; these are its messages"),
        ("openai", "Its request was not stored; "),
    ],
)
def test_where_there_is_nothing_to_compare_with_it_says_why(answered, said):
    wire = asking("openai", Server()).wire((), Options())
    assert said in not_kept(answered, None if answered == "reader" else wire)


def test_each_kind_has_a_letter_of_its_own():
    assert len(set(LETTERS.values())) == len(LETTERS) == len(Kind)
