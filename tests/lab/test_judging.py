"""Rulings on answers as people and models write them."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jitchat.lab.facts import Kind, makers
from jitchat.lab.judging import ruled
from jitchat.lab.reading.forms import has
from jitchat.lab.reading.plain import plain
from jitchat.providers.reader import Passage, cited, not_held
from jitchat.text.sentences import sentences
from tests.lab.drawn import FEW, facts
from tests.lab.known import FACTS

if TYPE_CHECKING:
    from jitchat.lab.facts import Fact

LINES = (Path(__file__).parents[1] / "data" / "rot_answers.jsonl").read_text("utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES]
QUOTED = (Kind.DIRECT, Kind.EXACT, Kind.UPDATED, Kind.DISTRACTED)
"""The kinds that a citation answers."""
AROUND = (
    *("**%s**", "*%s*", "***%s***", "__%s__", "_%s_", "`%s`", "<b>%s</b>", "“%s”", '"%s"'),
    *("> %s", "# %s", "### %s", "\n\n%s\n\n", "  %s  ", "```\n%s\n```", "```text\n%s\n```"),
)
CUES = (
    *(
        "not ",
        "no longer ",
        "or ",
        "and ",
        "was ",
        "now ",
        "first ",
        "**",
        "\n- ",
        ". ",
        ", ",
        "? ",
    ),
    *("I don't know", "never said", "probably ", "in total ", "(#12, user)", "<think>", "~~", "= "),
)


@pytest.mark.parametrize("name", FACTS)
def test_answers_are_ruled_as_a_person_would(name: str):
    rows = [row for row in ROWS if row["fact"] == name]
    rulings = [(row, ruled(FACTS[name], row["answer"])) for row in rows]
    mistaken = [(row, its) for row, its in rulings if its.is_right is not row["right"]]
    misnamed = [(row, its) for row, its in rulings if row.get("rule", "") not in its.rule]
    assert not mistaken + misnamed
    assert len(rows) > 5
    assert all(row["kind"] == FACTS[name].kind.value for row in rows)


def test_the_table_has_hundreds_of_answers_right_and_wrong_of_every_kind():
    counts = Counter((row["kind"], row["right"]) for row in ROWS)
    assert len(ROWS) >= 300
    assert all(counts[kind.value, right] >= 20 for kind in Kind for right in (True, False))


@pytest.mark.parametrize(
    ("name", "answer", "rule"),
    [
        ("padlock", "It is 7443.", "says 7443"),
        ("padlock", "", "says nothing"),
        ("padlock", "** **\n", "says nothing"),
        ("padlock", "A padlock, I think.", "never says 7443"),
        ("padlock", "I don't know that.", "says it is not known"),
        ("padlock", "7443 or 7434", "says 7443 or another value"),
        ("pin", "7440", "says the old value 7440"),
        ("pin", "7443 or 7440", "says 7440 or 7443"),
        ("port", "7301", "says 7301, which is another's"),
        ("wifi", "crow-kalm482", "does not say Crow-kAlm482 to the letter"),
        ("jam", "4 jars", "counts 4"),
        ("jam", "3 jars", "counts 3"),
        ("jam", "- Gerda\n- the postwoman", "lists 2"),
        ("jam", "3 or 4", "counts 3 or 4"),
        ("jam", "Several.", "names no count"),
        ("extension", "You never said.", "says that it was never said"),
        ("extension", "6468", "says 6468, which is another's"),
        ("extension", "You never said, but probably 5000.", "guesses what was never said"),
        ("extension", "Sure!", "does not say that it was never said"),
    ],
)
def test_a_rule_is_told_in_few_words(name: str, answer: str, rule: str):
    assert ruled(FACTS[name], answer).rule == rule


@pytest.mark.parametrize("kind", QUOTED)
def test_a_citation_of_the_fact_is_right(kind: Kind):
    for fact in facts(kind):
        citation = _citation(fact, is_needed=True)
        assert ruled(fact, citation).is_right, citation


@pytest.mark.parametrize("kind", [Kind.UPDATED, Kind.DISTRACTED, Kind.ABSENT])
def test_a_citation_of_what_misleads_is_wrong(kind: Kind):
    for fact in facts(kind, FEW):
        citation = _citation(fact, is_needed=False)
        its = ruled(fact, citation)
        assert (its.is_right, its.rule.startswith("says ")) == (False, True), citation


def test_citations_of_all_four_turns_are_counted():
    for fact in facts(Kind.COUNTING, FEW):
        quotes = [cited(_passage(at, each.text), each.text) for at, each in enumerate(fact.sayings)]
        assert ruled(fact, "\n".join(f"- {quote}" for quote in quotes)).is_right
        assert not ruled(fact, "\n".join(f"- {quote}" for quote in quotes[:3])).is_right
        assert not ruled(fact, quotes[0]).is_right


@pytest.mark.parametrize("turns", [0, 1, 4, 5, 6])
@pytest.mark.parametrize("kind", list(Kind))
def test_the_readers_refusal_is_right_only_where_nothing_was_said(kind: Kind, turns: int):
    fact = makers()[kind][0](random.Random(1))
    assert ruled(fact, not_held(turns)).is_right is (kind is Kind.ABSENT)


@given(st.sampled_from(sorted(FACTS)), st.text())
@example("jam", "¹²³ ٤ 四 ½")
@example("padlock", "\ud800 7443")
def test_any_text_has_a_ruling(name: str, answer: str):
    its = ruled(FACTS[name], answer)
    assert its.rule
    assert its == ruled(FACTS[name], answer)


@given(st.data())
def test_any_mixture_of_values_and_cues_has_a_ruling(data: st.DataObject):
    fact = FACTS[data.draw(st.sampled_from(sorted(FACTS)))]
    pieces = (*CUES, *fact.accepted, *fact.wrong, fact.question, fact.sayings[0].text, "4 ", "17")
    answer = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=12)))
    its = ruled(fact, answer)
    named = any(has(plain(answer), value) for value in fact.accepted)
    assert named or not its.is_right or fact.kind in (Kind.COUNTING, Kind.ABSENT)


@given(st.sampled_from(ROWS), st.sampled_from(AROUND))
def test_markup_around_an_answer_changes_nothing(row: dict[str, str], around: str):
    fact, answer = FACTS[row["fact"]], row["answer"]
    if "\n" in answer and not around.startswith(("```", "\n")):
        around = "%s\n"
    assert ruled(fact, around % answer) == ruled(fact, answer)


def _citation(fact: Fact, *, is_needed: bool) -> str:
    """Cite the sentence with the value, as the embedded reader does."""
    values = fact.accepted if is_needed else fact.wrong
    said = [each.text for each in fact.sayings if each.is_needed is is_needed]
    quotes = [each for text in said for each in sentences(text)]
    quote = next(each for each in quotes if any(value in each for value in values))
    return cited(_passage(12, quote), quote)


def _passage(turn: int, text: str) -> Passage:
    return Passage(turn, "user", "Tue 2026-03-03", text, whole=True)
