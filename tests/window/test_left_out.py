"""Everything that is stored is in the window or has a row that says why not, and what it costs."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.attachments import Attachment, Part, PartHit, Picture
from jitchat.errors import WindowOverflow
from jitchat.statements import Distilled, Fact, FactKind, Source
from jitchat.values import (
    NO_TOOL_USE,
    REQUEST_CONTEXT,
    Elsewhere,
    ElsewhereHit,
    Form,
    Mode,
    Role,
    Shortened,
    Status,
    Tool,
    ToolCall,
    ToolUse,
    Turn,
)
from jitchat.why import Standing, why_by_ledger, why_other
from jitchat.window import record
from jitchat.window.budget import Budget
from jitchat.window.calibration import NO_CALIBRATION, Calibration
from jitchat.window.exchange import is_shown
from jitchat.window.extend import Appended, extended
from jitchat.window.facts import fact_line
from jitchat.window.files import FileSources
from jitchat.window.history import History
from jitchat.window.parts import Sources, ToolOffer
from jitchat.window.plan import plan, rewritten
from jitchat.window.tokens import EstimateCounter, message_tokens
from jitchat.window.window import ContextWindow, Kind, OtherRow, Requested, Segment, Verdict
from jitchat.window.written import TurnPricing
from jitchat.writing.pieces import PLAIN, WritingRules
from tests.examples import examples
from tests.window.cases import TEXTS, Case, cases
from tests.window.reports import calibrations

COUNTER = EstimateCounter()
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
HERE = "here"
_ROOM = re.compile(r"no room: ~?([\d,]+) tokens, ~?([\d,]+) left (.+?)(?:;|, in “|$)")


def price(text: str, _use: ToolUse = NO_TOOL_USE) -> int:
    return message_tokens(COUNTER, text)


def pixels(width: int, height: int) -> tuple[int, bool]:
    return width * height // 100, True


@st.composite
def sources(draw: st.DrawFn) -> tuple[Case, Sources]:
    """Mostly everything that a window can be made from, at once."""
    case = draw(cases())
    made = case.sources(COUNTER)
    count = draw(st.sampled_from((0, 3, 25, 40)))
    kinds = st.sampled_from((FactKind.DECISION, FactKind.STANDING, FactKind.PREFERENCE))
    places = st.sampled_from((HERE, "chat-3", None))
    facts = []
    for number in range(1, count + 1):
        place = draw(places)
        source = Source(number, number, place) if place is not None else None
        text = f"Fact {number}: the harbour port is {9_000 + number}."
        facts.append(Fact(number, text, draw(kinds), source))
    hits = tuple(
        ElsewhereHit("chat-3", "Boats", Turn(number, Role.USER, draw(TEXTS)), 0.4, "match")
        for number in range(1, draw(st.sampled_from((0, 1, 4))) + 1)
    )
    files = case.files
    if draw(st.booleans()):
        picture = Picture("a.png", "f" * 64, "image/png", 400, 300)
        shot = Attachment(
            "a.png", "f" * 64, "image/png", 9, picture=picture, turn=case.draft.position
        )
        files = replace(files, files=(*files.files, shot), picture_tokens=pixels)
    out = tuple(file for file in files.files if file.turn in case.excluded)
    kept = tuple(file for file in files.files if file.turn not in case.excluded)
    tools = (
        ToolOffer(Tool(REQUEST_CONTEXT, "finds turns", "{}"), "can ask"),
        ToolOffer(Tool("shelf", "lends books", "{}"), "no room", is_offered=False, tokens=40),
    )
    return case, replace(
        made,
        retrieval=replace(made.retrieval, elsewhere=Elsewhere(hits, ())),
        distilled=Distilled(facts=tuple(facts), conversation=HERE),
        files=replace(files, files=kept, kept_out=out),
        tools=tools[: draw(st.sampled_from((0, 1, 2)))],
    )


@examples(40)
@given(sources(), st.sampled_from(list(Mode)), calibrations())
def test_every_stored_part_is_sent_or_has_a_row(
    drawn: tuple[Case, Sources], mode: Mode, learnt: Calibration
) -> None:
    case, known = drawn
    try:
        window = plan(mode, known, case.budget, COUNTER, learnt)
    except WindowOverflow:
        return
    every_turn_is_told(window, case)
    every_file_is_told(window, known)
    every_fact_is_told(window, known)
    named = {row.name for row in window.others_of(Kind.TOOLS)}
    named |= {tool.name for tool in window.tools}
    assert named >= {offer.tool.name for offer in known.tools}
    if mode is Mode.JIT:
        found = {hit.name for hit in known.retrieval.elsewhere.hits}
        assert {row.name for row in window.others_of(Kind.RETRIEVED)} == found
    for row in window.others:
        assert row.reason
        assert row.tokens > 0 or not row.is_sent
        assert row.name in " ".join(why_other(window, row.name))
    rooms_are_true(window, learnt)
    numbers_are_marked_and_are_those_of_the_row(window)
    reads_back(window)


def every_turn_is_told(window: ContextWindow, case: Case) -> None:
    unshown = [turn.position for turn in case.turns if not is_shown(turn)]
    rows = window.others_of(Kind.RECENT)
    told = {int(word[1:]) for row in rows for word in row.name.split() if word[0] == "#"}
    counted = sum(int(row.name.split()[0]) for row in rows if row.name[0] != "#")
    assert len(told) + counted >= len(unshown)
    assert told <= set(unshown) or counted
    shown = {row.turn for row in window.ledger}
    shown |= {each.turn for each in window.segments[:-1] if each.turn is not None}
    never = window.never_candidates.turns if window.never_candidates is not None else 0
    known = {turn.position for turn in case.turns if is_shown(turn)}
    assert len(known & shown) + never == len(known)


def every_file_is_told(window: ContextWindow, known: Sources) -> None:
    rows = [row for row in window.files if row.kind is Kind.FILES]
    sent = [each.file for each in window.segments if each.kind is Kind.FILES and each.file]
    files = (*known.files.files, *known.files.kept_out)
    assert sorted(row.name for row in rows) == sorted(file.name for file in files)
    assert {row.file.digest for row in rows if row.is_sent and row.file} == {
        ref.digest for ref in sent if ref.is_whole
    }
    whole = {ref.digest for ref in sent if ref.is_whole}
    digests = {file.digest for file in known.files.files}
    hits = [hit for hit in known.files.hits if hit.digest in digests - whole]
    assert len(window.others_of(Kind.DOCUMENTS)) == len(hits)


def every_fact_is_told(window: ContextWindow, known: Sources) -> None:
    for kind in (Kind.STANDING, Kind.FACTS):
        wanted = [
            fact
            for fact in known.distilled.facts
            if (fact.kind is FactKind.STANDING) == (kind is Kind.STANDING)
        ]
        text = "".join(each.text for each in window.segments if each.kind is kind)
        sent = [fact for fact in wanted if fact_line(fact, known.distilled) in text]
        rows = window.others_of(kind)
        single = [row for row in rows if row.name.startswith("fact ")]
        others = sum(int(row.name.split()[0]) for row in rows if row not in single)
        assert len(sent) + len(single) + others == len(wanted)
        assert not {row.name for row in single} & {f"fact {fact.id}" for fact in sent}


def rooms_are_true(window: ContextWindow, learnt: Calibration) -> None:
    """A room that is named is smaller than what did not fit, and no larger than what is free."""
    for row in (*window.others, *window.ledger):
        for needed, left, where in _ROOM.findall(row.reason):
            assert int(needed.replace(",", "")) > int(left.replace(",", ""))
            if where == "in the window" and learnt.is_identity and row.verdict is Verdict.LEFT_OUT:
                files = sum(
                    each.tokens for each in window.segments if each.kind.is_stable or each.file
                )
                assert int(left.replace(",", "")) <= window.free + files + 60


def numbers_are_marked_and_are_those_of_the_row(window: ContextWindow) -> None:
    for row in (*window.others, *window.ledger):
        assert "\0" not in row.reason
        for needed, _, _ in _ROOM.findall(row.reason):
            if isinstance(row, OtherRow):
                assert int(needed.replace(",", "")) == row.tokens
        for found in re.finditer(r"no room: (.)", row.reason):
            assert (found[1] == "~") == (not window.is_sure)


def reads_back(window: ContextWindow) -> None:
    segments = [record.segment_fields(segment) for segment in window.segments]
    rows = [record.ledger_fields(row) for row in window.ledger]
    again = record.window_from(record.header_fields(window), segments, rows)
    assert again.others == window.others


# What each reason says.


SMALL = Budget(size=800)
"""Holds a talk of 12 statements whole, and of 80 a part."""


def talk(count: int = 12, *more: Turn) -> History:
    roles = Role.USER, Role.ASSISTANT
    turns = [
        Turn(at, roles[(at - 1) % 2], f"Statement {at} of the talk.", NOON)
        for at in range(1, count + 1)
    ]
    return History().extended([*turns, *more], price)


def window_of(
    mode: Mode = Mode.JIT, budget: Budget | None = None, **known: object
) -> ContextWindow:
    history = known.pop("history", None) or talk()
    assert isinstance(history, History)
    draft = Turn(history.positions[-1] + 9, Role.USER, "Which port was it?", NOON)
    made = Sources(history, draft, "model", **known)  # type: ignore[arg-type]
    return plan(mode, made, budget or SMALL, COUNTER, NO_CALIBRATION)


def file(turn: int, text: str = "The key is under the mat.\n", **more: object) -> Attachment:
    known = {"name": "a.md", "digest": "a" * 64, "media_type": "text/plain", "size": 9}
    return Attachment(**known | {"parts": (Part("", text),), "turn": turn} | more)  # type: ignore[arg-type]


def the_file(window: ContextWindow) -> OtherRow:
    [row] = window.others_of(Kind.FILES)
    return row


def test_facts_without_room_are_listed_with_their_tokens_and_the_room() -> None:
    facts = tuple(
        Fact(number, f"The port of relay {number} is {9_000 + number}.", FactKind.DECISION, None)
        for number in range(1, 26)
    )
    window = window_of(budget=Budget(size=4_000), distilled=Distilled(facts=facts))
    sent = sum(each.kind is Kind.FACTS for each in window.segments)
    rows = window.others_of(Kind.FACTS)
    assert (sent + len(rows), len(rows) > 9) == (25, True)
    for row in rows:
        told = re.fullmatch(
            r"decision on “port”; no room: ~(\d+) tokens, ~(\d+) left for facts", row.reason
        )
        assert told, row.reason
        assert int(told[1]) == row.tokens > int(told[2])


@pytest.mark.parametrize("mode", [Mode.FULL, Mode.RECENCY])
def test_a_fact_says_that_its_mode_sends_none_or_that_its_turn_is_there(mode: Mode) -> None:
    here = Source(11, 11, HERE)
    facts = (
        Fact(1, "The port is 9641.", FactKind.DECISION, None),
        Fact(2, "The port is 80.", FactKind.DECISION, here),
        Fact(3, "Birgit turns 40.", FactKind.PREFERENCE, None),
    )
    rows = window_of(mode, distilled=Distilled(facts=facts, conversation=HERE)).others
    told = {row.name: row.reason for row in rows}
    assert told == {
        "fact 1": "decision on “port”; only jit, observe and document send facts",
        "fact 2": "decision on “port”; #11, which it is from, is sent in full",
        "1 fact": "they match the message less, or not at all",
    }


def test_standing_instructions_without_room_are_listed_from_the_latest() -> None:
    facts = tuple(
        Fact(number, f"Always keep rule number {number}.", FactKind.STANDING, None)
        for number in range(1, 41)
    )
    window = window_of(budget=Budget(size=1_600), distilled=Distilled(facts=facts))
    sent = sum(each.kind is Kind.STANDING for each in window.segments)
    rows = window.others_of(Kind.STANDING)
    assert [row.name for row in rows[:2]] == [f"fact {40 - sent}", f"fact {39 - sent}"]
    assert rows[0].reason == "the 100 tokens for standing instructions go to the latest"
    assert rows[-1].name == f"{40 - sent - 24} facts"


def test_a_file_says_what_became_of_its_turn() -> None:
    history, known = talk(80), FileSources((file(3),))
    out = {"without": {3: "excluded by you"}, "files": FileSources(kept_out=(file(3),))}
    told = {
        "excluded": the_file(window_of(history=history.without([3], price), **out)),
        "pinned": the_file(window_of(history=history, files=known, pinned=(3,))),
        "recalled": the_file(window_of(history=history, files=known, wanted=frozenset({3}))),
        "neither": the_file(window_of(Mode.RECENCY, history=history, files=known)),
    }
    assert {name: row.reason for name, row in told.items()} == {
        "excluded": "attached with #3: excluded by you",
        "pinned": "attached with #3, which is pinned: only its text is quoted",
        "recalled": "attached with #3, which is retrieved: only its text is quoted",
        "neither": "attached with #3, which is not sent",
    }
    assert {row.verdict for row in told.values()} == {Verdict.LEFT_OUT}


def test_a_picture_that_is_left_out_costs_what_the_picture_costs() -> None:
    picture = Picture("a.md", "a" * 64, "image/png", 400, 300)
    shot = file(3, parts=(), picture=picture)
    known = FileSources((shot,), picture_tokens=pixels)
    row = the_file(window_of(history=talk(80), files=known))
    label = COUNTER.count("<file #3 a.md: picture, 400×300/>\n")
    assert row.tokens == 1_200 + label


@pytest.mark.parametrize("mode", [Mode.RECENCY, Mode.FULL])
def test_a_part_is_not_without_room_in_a_mode_that_sends_none(mode: Mode) -> None:
    known = FileSources((file(3),), (PartHit(3, "a" * 64, 0, 0.5, "match"),))
    window = window_of(mode, history=talk(80), files=known)
    if mode is Mode.FULL:
        assert the_file(window).is_sent
        assert not window.others_of(Kind.DOCUMENTS)
    else:
        [part] = window.others_of(Kind.DOCUMENTS)
        assert part.reason == "only jit, observe and document send parts of files"


def test_what_full_would_send_includes_the_files_that_a_window_has_no_room_for() -> None:
    known = FileSources((file(3, "The port is 9641. " * 2_000),))
    full = window_of(Mode.FULL, history=talk(80), files=known)
    assert window_of(Mode.JIT, history=talk(80), files=known).full_tokens == full.used


def test_turns_that_no_window_shows_have_a_row_for_each_reason() -> None:
    call = ToolCall("1", REQUEST_CONTEXT, "{}")
    more = (
        Turn(13, Role.USER, "Is anybody there?", NOON, status=Status.UNANSWERED),
        Turn(14, Role.USER, "Hello?", NOON, status=Status.UNANSWERED),
        Turn(15, Role.ASSISTANT, " ", NOON, status=Status.CUT),
        Turn(16, Role.ASSISTANT, "", NOON, use=ToolUse(calls=(call,))),
        Turn(17, Role.TOOL, "Statement 3 of the talk.", NOON, use=ToolUse(answers=call)),
    )
    rows = window_of(history=talk(12, *more)).others_of(Kind.RECENT)
    assert [(row.name, row.reason) for row in rows] == [
        ("#13 #14", "not answered, so it is kept but not sent again"),
        ("#15", "a reply without text"),
        ("#16 #17", "calls of jitchat's own tools and their results are not sent again"),
    ]
    assert rows[0].tokens == COUNTER.count("Is anybody there?") + COUNTER.count("Hello?")
    assert rows[2].tokens == COUNTER.count("{}") + COUNTER.count("Statement 3 of the talk.")


def test_many_turns_that_no_window_shows_are_counted() -> None:
    more = [Turn(at, Role.USER, "?", NOON, status=Status.UNANSWERED) for at in range(13, 313)]
    rows = window_of(history=talk(12, *more)).others_of(Kind.RECENT)
    assert [row.name for row in rows] == ["256 turns, #57–#312", "44 earlier turns"]


def test_the_same_text_of_another_conversation_is_named_as_such() -> None:
    hits = tuple(
        ElsewhereHit("chat-3", "Boats", Turn(at, Role.USER, "The port is 9641."), 0.9, "match")
        for at in (4, 7)
    )
    found = replace(
        Sources(talk(), Turn(1, Role.USER, ""), "m").retrieval, elsewhere=Elsewhere(hits)
    )
    rows = window_of(retrieval=found).others_of(Kind.RETRIEVED)
    assert [(row.name, row.is_sent) for row in rows] == [("chat-3#4", True), ("chat-3#7", False)]
    assert rows[1].reason == "same text as chat-3#4"


def test_what_the_model_requests_in_mid_turn_is_left_out_no_longer() -> None:
    known = FileSources((file(3, "The port is 9641. " * 2_000),))
    known = replace(known, hits=(PartHit(3, "a" * 64, 0, 0.5, "match"),))
    before = window_of(history=talk(80), files=known)
    [part] = before.others_of(Kind.DOCUMENTS)
    assert re.fullmatch(r"no room: ~[\d,]+ tokens, ~[\d,]+ left for parts of files", part.reason)
    asked = Requested("“port”", elsewhere=(part.name,))
    after = extended(before, Appended((), (asked,)), COUNTER, NO_CALIBRATION)
    [row] = after.others_of(Kind.DOCUMENTS)
    assert (row.verdict, row.reason) == (Verdict.REQUESTED, "requested by the model")
    assert after.others_of(Kind.FILES) == before.others_of(Kind.FILES)


def test_a_requested_turn_leaves_the_sum_with_all_that_it_costs() -> None:
    """One that was sent in part was not in the sum; that it is now whole is what counts."""
    before = window_of(Mode.RECENCY, history=talk(80))
    recent = next(each for each in before.segments if each.kind is Kind.RECENT)
    in_part = replace(recent, form=Form.PREVIEW, whole=90)
    before = replace(
        before, segments=tuple(in_part if each is recent else each for each in before.segments)
    )
    known = Kind.REQUESTED, Role.TOOL, "A part.", 4
    part = Segment(*known, 2, "asked for", form=Form.EXCERPT, whole=50)
    whole = Segment(*known, recent.turn, "asked for")
    after = extended(before, Appended((part, whole)), COUNTER, NO_CALIBRATION)
    never, was = after.never_candidates, before.never_candidates
    assert never is not None
    assert was is not None
    row = next(row for row in after.ledger if row.turn == 2)
    assert never.turns == was.turns - 1
    assert never.tokens == was.tokens - row.tokens
    assert row.tokens > after.segments[-2].tokens
    found = why_by_ledger(after, recent.turn or 0)
    assert found is not None
    assert found.standing is Standing.SENT


def test_rows_of_windows_of_earlier_versions_are_read() -> None:
    window = window_of()
    score = {"score": 0.9, "tokens": 30, "reason": "match"}
    part = {"name": "a.md", "turn": 3, "digest": "a" * 64, "locator": "§ B"}
    part |= {"picture": None, "is_whole": False}
    boats = {"conversation": "chat-3", "title": "Boats", "turn": 12, "verdict": "retrieved"}
    header = record.header_fields(window) | {
        "elsewhere": [boats | score],
        "files": [{"file": part, "verdict": "documents"} | score],
        "tools_left_out": [{"name": "shelf", "tokens": 40, "reason": "no room"}],
    }
    segments = [record.segment_fields(segment) for segment in window.segments]
    known = record.window_from(header, segments, []).others
    assert [(row.kind, row.name, row.verdict) for row in known] == [
        (Kind.RETRIEVED, "chat-3#12", Verdict.RETRIEVED),
        (Kind.DOCUMENTS, "a.md § B", Verdict.DOCUMENTS),
        (Kind.TOOLS, "shelf", Verdict.LEFT_OUT),
    ]
    assert known[0].source == Source(12, 12, "chat-3")


def test_a_result_in_part_is_of_the_same_whole_however_its_call_is_written() -> None:
    long = "The relay has 40 ports.\n" * 400
    preview = Shortened("The relay has 40 ports.\n[preview]", Form.PREVIEW)
    call = ToolCall("call1", "shelf", '{"row": 7}')
    turns = (
        Turn(13, Role.USER, "What is on the shelf?", NOON),
        Turn(14, Role.ASSISTANT, "", NOON, use=ToolUse(calls=(call,))),
        Turn(15, Role.TOOL, long, NOON, use=ToolUse(answers=call, form=preview)),
    )
    offer = ToolOffer(Tool("shelf", "lends books", "{}"), "a server's tool")

    def planned(rules: WritingRules) -> ContextWindow:
        pricing = TurnPricing(COUNTER, rules)
        history = History().extended([*talk().turns, *turns], pricing)
        return window_of(Mode.FULL, history=history, tools=(offer,), rules=rules)

    quoting = replace(PLAIN, takes_tools=False)
    native = planned(PLAIN)
    again = rewritten(native, COUNTER, quoting, NO_CALIBRATION)
    assert again is not None
    [held] = [each for each in again.segments if each.form is Form.PREVIEW]
    assert held.whole - held.tokens == COUNTER.count(long) - COUNTER.count(preview.text)
    assert held.reason.startswith(again.extent(held))
