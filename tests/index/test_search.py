"""The shortlist: which turns are found, why, and in which order."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.index.columns import GAP_SECONDS
from jitchat.index.embedder import NoEmbedder
from jitchat.index.entry import index_entry
from jitchat.index.retrieve import SHORTLIST, make_query, pick
from jitchat.index.scoring import WEIGHTS
from jitchat.index.search import HotIndex
from jitchat.index.tables import IndexRow
from jitchat.memory import Memory
from jitchat.text.words import fold, stems
from jitchat.transfer.formats import store_found
from jitchat.transfer.locomo import read_locomo
from jitchat.values import Candidate, Role, Turn
from tests.examples import examples
from tests.index.support import FailingEmbedder, FakeEmbedder
from tests.support import talk

NOON = datetime(2026, 3, 13, 12, tzinfo=UTC)


def row(turn: Turn, vector: bytes | None = None) -> IndexRow:
    stemmed = " ".join(stems(turn.content))
    return IndexRow(index_entry(turn), fold(turn.speaker), turn.created_at, stemmed, vector)


def index_of(turns: list[Turn], embedder=None) -> HotIndex:
    embedder = embedder or NoEmbedder()
    vectors = embedder.embed([turn.content for turn in turns])
    made = HotIndex(embedder)
    blobs = [vector.tobytes() if len(vector) else None for vector in vectors]
    made.add([row(turn, blob) for turn, blob in zip(turns, blobs, strict=True)])
    return made


def search(index: HotIndex, draft: str, before: int = 10_000) -> tuple[Candidate, ...]:
    return index.search(make_query(draft, "", index.speakers), before)


def part(candidate: Candidate, name: str) -> float:
    return dict(candidate.parts)[name]


def minutes_apart(turns: list[Turn], minutes: list[int]) -> list[Turn]:
    return [
        replace(turn, created_at=NOON + timedelta(minutes=at))
        for turn, at in zip(turns, minutes, strict=True)
    ]


def test_the_turn_that_shares_the_rare_words_comes_first():
    index = index_of(talk("The sky is blue.", "The gateway listens on 8443.", "Is the sky grey?"))
    first = search(index, "Which port does the gateway listen on?")[0]
    assert (first.turn, first.rank, first.matched) == (2, 1, ("gateway", "listen"))
    assert first.entry.summary == "The gateway listens on 8443."


def test_a_match_lends_the_turns_around_it_of_its_score_and_those_farther_away_nothing():
    index = index_of(talk("one", "two", "gateway", "four", "five", "six"))
    found = {row.turn: row for row in search(index, "gateway xyzzy quux")}
    assert set(found) == {1, 2, 3, 4, 5}
    own = part(found[3], "lexical") / WEIGHTS.lexical
    lent = {step: part(found[3 + step], "neighbour") for step in (1, -1, 2, -2)}
    assert lent == {step: pytest.approx(weight * own) for step, weight in WEIGHTS.lent}
    assert found[2].matched == ()


def test_turns_that_share_a_question_s_words_between_them_are_found_by_all_of_them():
    """The answer holds one of the words; what it answers holds the other two."""
    turns = talk("", "Which coffee does the office drink?", "The beans from Huila.", "", "", "",
                 "Some office has beans.")  # fmt: skip
    found = search(index_of(turns), "Which beans of coffee does the office buy?")
    assert found[0].turn == 3
    parts = {row.turn: part(row, "context") for row in found}
    assert parts[3] > parts[7]


def test_a_pause_parts_neighbours():
    apart = GAP_SECONDS // 60
    turns = minutes_apart(talk("one", "gateway", "three"), [0, apart, 2 * apart - 1])
    assert {row.turn for row in search(index_of(turns), "gateway xyzzy quux")} == {2, 3}


def test_a_stretch_of_talk_that_is_over_lends_its_turns_its_score():
    turns = talk("gateway", "port", "nothing", "else", "more", "gateway and port", "end")
    found = search(
        index_of(minutes_apart(turns, [0, 1, 2, 3, 600, 601, 602])), "gateway port xyzzy"
    )
    assert {row.turn: part(row, "stretch") > 0 for row in found} == {
        1: True, 2: True, 3: True, 4: True, 5: False, 6: False, 7: False,
    }  # fmt: skip


def test_a_clock_that_jumps_back_starts_no_stretch():
    turns = minutes_apart(talk("one", "gateway", "three"), [0, -100_000, -99_999])
    assert {row.turn for row in search(index_of(turns), "gateway xyzzy quux")} == {1, 2, 3}


def test_what_the_named_person_said_is_preferred():
    turns = [
        Turn(1, Role.USER, "My painting of the lake is done.", None, "Caroline"),
        Turn(2, Role.ASSISTANT, "Mine is a painting of the lake too.", None, "Melanie"),
    ]
    index = index_of(turns)
    assert index.speakers == {"caroline", "melanie"}
    for name, position in (("Caroline", 1), ("Melanie", 2)):
        assert search(index, f"Which painting of a lake did {name} do?")[0].turn == position


def test_a_question_is_worth_less_than_a_statement():
    index = index_of(talk("Is the gateway green?", "", "", "", "", "The gateway is green."))
    found = {row.turn: row for row in search(index, "green gateway xyzzy")}
    assert part(found[1], "cue") < part(found[6], "cue")
    assert found[6].rank == 1


def test_a_turn_that_says_much_is_worth_more_than_one_that_says_little():
    long = f"The gateway is green: {' '.join(f'reason{number}' for number in range(20))}."
    index = index_of(talk("gateway", "", "", "", "", long))
    found = {row.turn: part(row, "cue") for row in search(index, "green gateway xyzzy")}
    assert found[1] < 0 < found[6]


def test_who_does_not_know_is_worth_less_than_who_does():
    index = index_of(
        talk("I don't know which port the gateway has.", "", "", "", "", "Port 8443, the gateway.")
    )
    assert search(index, "Which port does the gateway have?")[0].turn == 6


def test_an_earlier_asking_of_the_same_question_is_no_answer_to_it():
    question = "Which port does the staging gateway listen on?"
    texts = [question, "I don't know.", question, "", "", "", "Staging: the gateway is at 8443."]
    found = {row.turn: row for row in search(index_of(talk(*texts)), question)}
    assert found[7].rank == 1
    assert 1 not in found or part(found[1], "lexical") == 0


@pytest.mark.parametrize(
    ("question", "turn"),
    [
        ("What did we do in May?", 1),
        ("What happened on 8 May 2026?", 1),
        ("What was planned for 20 June?", 2),
        ("What did we do in June 2025?", None),
    ],
)
def test_a_day_that_is_asked_for_finds_what_was_said_then_or_speaks_of_it(question, turn):
    turns = [
        Turn(1, Role.USER, "We hiked.", datetime(2026, 5, 8, tzinfo=UTC)),
        Turn(2, Role.USER, "We sail on 20 June.", datetime(2026, 4, 2, tzinfo=UTC)),
        Turn(3, Role.USER, "We cooked.", datetime(2026, 3, 2, tzinfo=UTC)),
    ]
    found = [row.turn for row in search(index_of(turns), question) if part(row, "date") > 0]
    assert found == ([turn] if turn else [])


def test_a_question_for_a_time_prefers_turns_that_have_one():
    turns = talk("The launch is near.", "", "", "", "The launch is on 5 May.")
    index = index_of([replace(turn, created_at=NOON) for turn in turns])
    when = {row.turn: part(row, "cue") for row in search(index, "When is the launch xyzzy quux?")}
    assert when[5] > when[1]


def test_a_standing_wish_counts_for_what_is_new_and_not_for_what_was_said():
    said = talk("Always name the author of a book.", "", "", "", "I read a book by an author.")
    index = index_of([replace(turn, role=Role.USER) for turn in said])
    new = {row.turn: part(row, "cue") for row in search(index, "Suggest a book by some author.")}
    past = {row.turn: part(row, "cue") for row in search(index, "Which author was it, and book?")}
    assert new[1] > new[5]
    assert past[1] < 0


def test_a_long_turn_counts_for_less_than_a_brief_one_with_the_same_words():
    filler = " ".join(f"word{number}" for number in range(300))
    index = index_of(talk("the gateway is in Graz", *[""] * 9, f"the gateway, Graz, {filler}"))
    found = {
        row.turn: part(row, "lexical") for row in search(index, "Where is the gateway in Graz?")
    }
    assert found[1] > 2 * found[11] > 0


def test_the_latest_decisions_are_found_however_far_back_they_are():
    said = ["We decided to launch.", "", "", "We agreed on blue.", *[""] * 9, "We chose Graz."]
    index = index_of(talk(*said))
    found = [index.decisions(count, 14) for count in (1, 2, 9)]
    assert [[entry.turn for entry in each] for each in found] == [[4], [1, 4], [1, 4]]
    assert index.decisions(2, 1) == ()


def test_only_turns_before_the_draft_are_searched():
    index = index_of(talk("gateway", "nothing", "gateway", "gateway"))
    assert {row.turn for row in search(index, "gateway xyzzy quux", before=3)} == {1, 2}
    assert search(index, "gateway xyzzy quux", before=1) == ()


def test_rows_that_are_added_are_found_at_once():
    index = index_of(talk("gateway"))
    index.add([row(Turn(2, Role.USER, "zebra"))])
    assert search(index, "zebra xyzzy quux")[0].turn == 2
    assert len(index) == 2


def test_the_shortlist_is_bounded():
    index = index_of(talk(*["gateway"] * 200))
    assert len(search(index, "gateway xyzzy quux")) == SHORTLIST


def test_nothing_in_common_is_nothing_found():
    index = index_of(talk("The sky is blue.", "So is the sea."))
    assert search(index, "Kilimanjaro xyzzy quux") == ()
    assert search(HotIndex(NoEmbedder()), "sky") == ()


def test_meaning_is_found_where_no_word_is_shared():
    index = index_of(talk(*(f"turn {number}" for number in range(20))), FakeEmbedder())
    query = replace(make_query("xyzzy", "", frozenset()), text="turn 7")
    first = index.search(query, 10_000)[0]
    assert (first.turn, first.matched) == (8, ())
    assert part(first, "dense") > 0 == part(first, "lexical")


def test_an_embedder_that_fails_leaves_the_words():
    index = index_of(talk("gateway", "sky"), FailingEmbedder(fails=False))
    index._embedder.fails = True
    assert search(index, "gateway xyzzy quux")[0].turn == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, 3e38])
def test_numbers_that_are_none_never_reach_a_score(bad):
    spoiled = FakeEmbedder(spoil=lambda made: np.full_like(made, bad))
    found = search(index_of(talk("gateway", "sky", "sea"), spoiled), "gateway xyzzy quux")
    assert [row.turn for row in found] == [1, 2, 3]
    assert all(np.isfinite(row.score) for row in found)


@examples(20)
@given(
    st.lists(st.text("abc .?", max_size=12), min_size=1, max_size=15),
    st.text("abc ", max_size=10),
    st.integers(0, 20),
)
def test_the_parts_add_up_and_the_ranks_follow_the_scores(texts, draft, before):
    index = index_of(talk(*texts), FakeEmbedder())
    found = search(index, draft, before)
    assert [row.rank for row in found] == list(range(1, len(found) + 1))
    assert all(row.turn < before for row in found)
    for candidate in found:
        assert candidate.score == pytest.approx(sum(value for _, value in candidate.parts))
        assert candidate.score > 0
    scores = [row.score for row in found]
    assert scores == pytest.approx(sorted(scores, reverse=True))


def test_what_is_said_of_a_hit_tells_why_it_is_one():
    index = index_of(talk("gateway port", *["sky"] * 5, "gateway"))
    hits = pick(search(index, "gateway port"))
    reasons = {hit.turn: hit.reason for hit in hits}
    assert hits[0].turn == 1
    assert reasons[1] == "best lexical match on “gateway, port”"
    assert reasons[2] == "among turns that match"


def test_most_evidence_of_locomo_is_on_the_shortlist_and_much_of_it_is_picked(store, locomo):
    """One conversation, by words alone; the benchmark has the full numbers."""
    data = json.loads(locomo.read_text())[:1]
    made = store_found(store, read_locomo(data)[0])
    memory = Memory(store, made)
    assert sum(len(batch) for batch in memory.index.catch_up()) == made.turns
    places = {item: number for number, item in enumerate(_dialogue(data[0]["conversation"]), 1)}
    listed = picked = asked = 0
    for question in data[0]["qa"]:
        gold = {places[name] for name in question["evidence"] if name in places}
        if question["category"] == 5 or not gold:
            continue
        found = memory.retrieve(question["question"], made.turns + 1)
        asked += 1
        listed += bool(gold & {row.turn for row in found.candidates})
        picked += bool(gold & {hit.turn for hit in found.hits})
    assert asked > 100
    assert listed / asked > 0.85
    assert picked / asked > 0.65


def _dialogue(conversation: dict) -> list[str]:
    names = [name for name in conversation if re.fullmatch(r"session_\d+", name)]
    names.sort(key=lambda name: int(name.removeprefix("session_")))
    return [item["dia_id"] for name in names for item in conversation[name]]


def test_words_are_trusted_where_there_are_no_vectors_beside_them():
    turns = talk("Zebras eat hay.", *(f"Number {number} is a number." for number in range(200)))
    question = "Which zebra food?"
    by_words = search(index_of(turns), question)
    unembedded = HotIndex(FakeEmbedder())
    unembedded.add([row(turn) for turn in turns])
    assert search(unembedded, question) == by_words
    embedded = search(index_of(turns, FakeEmbedder()), question)
    scores = {each.turn: part(each, "lexical") for each in embedded}
    assert scores[1] < part(by_words[0], "lexical")


@given(
    contents=st.lists(
        st.text("ab", max_size=3).map(lambda word: f"gateway {word} port"), min_size=1, max_size=12
    ),
    draft=st.sampled_from(["gateway port?", "aab and the port", "nothing at all", ""]),
    size=st.integers(1, 12),
)
@examples(16)
def test_a_turn_alone_has_the_rank_and_the_parts_that_a_search_gives_it(contents, draft, size):
    turns = talk(*contents)
    index = index_of(turns, FakeEmbedder())
    query, before = make_query(draft, "", index.speakers), len(turns) + 1
    alone = [index.placed(query, before, turn.position) for turn in turns]
    ranked = sorted(alone, key=lambda each: each.candidate.rank)
    assert [each.candidate.rank for each in ranked] == list(range(1, len(turns) + 1))
    found = index.search(query, before, size)
    assert tuple(each.candidate for each in ranked[: len(found)]) == found
    assert {each.of for each in alone} == {len(turns)}


def test_a_turn_that_is_not_searched_has_no_rank():
    index = index_of([turn for turn in talk("one", "two", "gateway", "four") if turn.position != 2])
    query = make_query("gateway", "", index.speakers)
    assert [index.placed(query, 4, turn) is not None for turn in range(6)] == [
        False, True, False, True, False, False,
    ]  # fmt: skip
    assert index.placed(query, 10, 3).of == 3
    assert [entry.turn for entry in index.entries({0, 1, 2, 4, 9})] == [1, 4]
