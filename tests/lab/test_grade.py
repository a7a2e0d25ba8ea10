"""Grades of answers that follow the lab's contract, and of others."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jitchat.lab.facts import USUAL_KINDS, Kind, makers
from jitchat.lab.grade import contract, grade
from jitchat.lab.spelling import has, plain
from jitchat.providers.passages import Passage
from jitchat.providers.reader import cited, no_answer
from jitchat.text.sentences import sentences
from tests.examples import examples
from tests.lab.drawn import FEW, facts
from tests.lab.known import FACTS

if TYPE_CHECKING:
    from jitchat.lab.facts import Fact

LINES = (Path(__file__).parents[1] / "data" / "rot_answers.jsonl").read_text("utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES]
RIGHT, WRONG = ([row for row in ROWS if row["right"] is which] for which in (True, False))
NOT_SAID = "not said"
AROUND = (
    *("**%s**", "*%s*", "***%s***", "__%s__", "_%s_", "`%s`", "<b>%s</b>", "“%s”", '"%s"'),
    *("> %s", "# %s", "### %s", "\n\n%s\n\n", "  %s  ", "```\n%s\n```", "```text\n%s\n```"),
)
CUES = (
    *("not ", "or ", "and ", "was ", "now ", "**", "\n- ", ". ", ", ", "? "),
    *("I don't know", "never said", "probably ", "in total ", "(#12, user)", "<think>", "~~", "= "),
)


PADLOCK = ("7443", "**7443**", "7,443", "It is 7443.", "7443 (#12, user)")


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.INSTRUCTION])
def test_the_value_alone_is_right_and_every_other_value_wrong(kind: Kind):
    for fact in facts(kind):
        values = fact.accepted or (NOT_SAID,)
        assert [each for each in values if not grade(fact, each).is_right] == []
        assert [each for each in fact.wrong if grade(fact, each).is_right] == []
        said = grade(fact, NOT_SAID)
        assert (said.is_right, "said" in said.rule or "not known" in said.rule) == (
            kind in (Kind.ABSENT, Kind.DELETED),
            True,
        )


OBEYED = [
    ("closing word", "Eight, {v}.", True),
    ("closing word", "not said {v}", True),
    ("closing word", "Eight.\n\n**{v}**", True),
    ("closing word", "Eight.", False),
    ("closing word", "{v}: eight.", False),
    ("closing word", "I shall end with {v} from now on.", False),
    ("opening word", "{v}! Oslo.", True),
    ("opening word", "Oslo, {v}.", False),
    ("audit ticket", "Ticket {v}: three.", False),
    ("audit ticket", "{v} Three.", True),
    ("nickname", "It has four, {v}.", True),
    ("nickname", "It has four.", False),
    ("captain", "In autumn, Captain {v}.", True),
]


@pytest.mark.parametrize(("name", "answer", "is_obeyed"), OBEYED)
def test_of_an_instruction_only_the_form_is_graded(name: str, answer: str, is_obeyed: bool):
    make = next(each for each in makers()[Kind.INSTRUCTION] if each(random.Random(0)).name == name)
    fact = make(random.Random(3))
    ruling = grade(fact, answer.format(v=fact.expected))
    assert ruling.is_right is is_obeyed
    assert fact.expected in ruling.rule
    assert not grade(fact, "").is_right


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("Fish.", 0),
        ("They eat fish.", 1),
        ("They eat fish. And chips, too, if they can.", 2),
        ("They eat fish and chips! Who would not? I certainly would.", 3),
        ("They eat fish. Yes.", 0),
    ],
)
def test_whole_sentences_are_counted(answer: str, sentences: int):
    make = makers()[Kind.INSTRUCTION][-1]
    for seed in range(8):
        fact = make(random.Random(seed))
        wanted = ("one", "two", "three").index(fact.expected.split()[0]) + 1
        assert grade(fact, answer).is_right is (wanted == sentences)


def test_what_asks_for_a_form_is_in_the_contract_where_that_is_asked_about():
    usual = contract(USUAL_KINDS)
    assert usual == contract(())
    assert contract([Kind.DELETED]).endswith("What was taken back since counts as never said.")
    assert contract([Kind.DIRECT, Kind.INSTRUCTION]).startswith(f"{usual} Where you were told")


GRADES = [
    *(("padlock", answer, True, "says 7443") for answer in PADLOCK),
    ("padlock", "", False, "empty answer"),
    ("padlock", "** **\n", False, "empty answer"),
    ("padlock", "A padlock, I think.", False, "never says 7443"),
    ("padlock", "Not said.", False, "says it is not known"),
    ("padlock", "I don't know that.", False, "says it is not known"),
    ("padlock", "74430", False, "never says 7443"),
    ("technician", "4:40 pm", True, "says 16:40"),
    ("technician", "4:40 am", False, "never says 16:40"),
    ("freeze", "March 7th", True, "says 7 March"),
    ("freeze", "2026-03-07", True, "says 7 March"),
    ("freeze", "7 May", False, "never says 7 March"),
    ("pin", "7443", True, "says 7443"),
    ("pin", "7440", False, "says the old value 7440"),
    ("pin", "7443, not 7440", False, "says 7443 and the old value 7440"),
    ("port", "7301", False, "says another's value 7301"),
    ("port", "4120 and 7301", False, "says 4120 and another's value 7301"),
    ("wifi", "`Crow-kAlm482`", True, "says Crow-kAlm482"),
    ("wifi", "crow-kalm482", False, "does not say Crow-kAlm482 to the letter"),
    ("jam", "Four", True, "counts 4"),
    ("jam", "4 jars", True, "counts 4"),
    ("jam", "3 jars", False, "counts 3"),
    ("jam", "3 or 4", False, "gives several numbers: 3, 4"),
    ("jam", "Several.", False, "gives no number"),
    ("extension", "not said", True, "states that it was never said"),
    ("extension", "It was never mentioned.", True, "states that it was never said"),
    ("extension", "6468", False, "says another's value 6468"),
    ("extension", "Not said. Tariq has 6468.", False, "says another's value 6468"),
    ("extension", "Sure!", False, "does not state that it was never said"),
]


def test_a_grade_says_why():
    for name, answer, is_right, rule in GRADES:
        graded = grade(FACTS[name], answer)
        assert (graded.is_right, graded.rule) == (is_right, rule), (name, answer)


def test_of_answers_in_free_prose_few_wrong_ones_pass():
    """They break the contract: the rule may miss a right one, which a judge can find."""
    passed = Counter(grade(FACTS[row["fact"]], row["answer"]).is_right for row in WRONG)
    found = Counter(grade(FACTS[row["fact"]], row["answer"]).is_right for row in RIGHT)
    assert len(WRONG) > 500
    assert passed[True] / len(WRONG) < 0.07
    assert found[True] / len(RIGHT) > 0.5


@pytest.mark.parametrize("kind", [Kind.DIRECT, Kind.EXACT, Kind.UPDATED, Kind.DISTRACTED])
def test_a_citation_of_the_fact_is_right(kind: Kind):
    for fact in facts(kind):
        citation = _citation(fact, is_needed=True)
        assert grade(fact, citation).is_right, citation


@pytest.mark.parametrize("kind", [Kind.UPDATED, Kind.DISTRACTED, Kind.ABSENT])
def test_a_citation_of_what_misleads_is_wrong(kind: Kind):
    for fact in facts(kind, FEW):
        citation = _citation(fact, is_needed=False)
        its = grade(fact, citation)
        assert (its.is_right, its.rule.startswith("says ")) == (False, True), citation


def test_the_contract_says_what_the_grade_looks_for():
    assert contract(()).endswith(NOT_SAID)
    assert "value alone" in contract(())


def test_the_readers_refusal_is_right_only_where_nothing_was_said():
    for case in product(Kind, (0, 1, 4, 5, 6)):
        kind, turns = case
        fact = makers()[kind][0](random.Random(1))
        assert grade(fact, no_answer(turns)).is_right is (kind in (Kind.ABSENT, Kind.DELETED)), case


@examples(30)
@given(st.sampled_from(sorted(FACTS)), st.text())
@example("jam", "¹²³ ٤ 四 ½")
@example("padlock", "\ud800 7443")
def test_any_text_has_a_ruling(name: str, answer: str):
    its = grade(FACTS[name], answer)
    assert its.rule
    assert its == grade(FACTS[name], answer)


@examples(30)
@given(st.data())
def test_any_mixture_of_values_and_cues_has_a_ruling(data: st.DataObject):
    fact = FACTS[data.draw(st.sampled_from(sorted(FACTS)))]
    pieces = (*CUES, *fact.accepted, *fact.wrong, fact.question, fact.sayings[0].text, "4 ", "17")
    answer = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=12)))
    its = grade(fact, answer)
    named = any(has(plain(answer), value) for value in fact.accepted)
    assert named or not its.is_right or fact.kind in (Kind.COUNTING, Kind.ABSENT)


@examples(30)
@given(st.sampled_from(ROWS), st.sampled_from(AROUND))
def test_markup_around_an_answer_changes_nothing(row: dict[str, str], around: str):
    fact, answer = FACTS[row["fact"]], row["answer"]
    if "\n" in answer and not around.startswith(("```", "\n")):
        around = "%s\n"
    assert grade(fact, around % answer) == grade(fact, answer)


def _citation(fact: Fact, *, is_needed: bool) -> str:
    """Cite the sentence with the value, as the built-in reader does."""
    values = fact.accepted if is_needed else fact.wrong
    said = [each.text for each in fact.sayings if each.is_needed is is_needed]
    quotes = [each for text in said for each in sentences(text)]
    quote = next(each for each in quotes if any(value in each for value in values))
    return cited(_passage(12, quote), quote)


def _passage(turn: int, text: str) -> Passage:
    return Passage(turn, "user", "Tue 2026-03-03", text, whole=True)
