"""The official F1, on answers worked out by hand."""

from __future__ import annotations

import pytest

from jitchat.bench.f1 import answer_f1


@pytest.mark.parametrize(
    ("answer", "gold", "reached"),
    [
        ("Adoption agencies", "adoption agencies", 1.0),
        ("She looked at an adoption agency", "Adoption agencies", 2 * 2 / (5 + 2)),
        ("The beach, and a mountain!", "beach mountain", 1.0),
        ("7 May, 2023", "7 May 2023", 1.0),
        ("in May", "7 May 2023", 2 * 1 / (2 + 3)),
        ("2022", "2022", 1.0),
        ("no no no", "no", 2 * 1 / (3 + 1)),
        ("no", "no no", 2 * 1 / (1 + 2)),
        ("Sweden", "Norway", 0.0),
        ("", "Sweden", 0.0),
        ("the", "a", 0.0),
    ],
)
def test_a_single_answer_is_scored_by_the_stems_that_it_shares(
    answer: str, gold: str, reached: float
):
    for category in ("single-hop", "temporal", "open-domain"):
        assert answer_f1(category, answer, gold) == pytest.approx(reached)


@pytest.mark.parametrize(
    ("answer", "gold", "reached"),
    [
        ("swimming, pottery", "pottery, swimming", 1.0),
        ("pottery", "pottery, camping, painting, swimming", 1 / 4),
        ("pottery, chess, running", "pottery", 1.0),
        ("she paints pottery, swims", "pottery, swimming", (2 * 1 / (3 + 1) + 1.0) / 2),
        ("1,000 miles", "1000 miles", 2 * 1 / (2 + 2)),
        ("", "pottery, swimming", 0.0),
    ],
)
def test_a_multi_hop_answer_is_scored_part_by_part_of_the_gold_one(
    answer: str, gold: str, reached: float
):
    assert answer_f1("multi-hop", answer, gold) == pytest.approx(reached)


def test_an_open_domain_gold_answer_ends_at_its_first_semicolon():
    gold = "Likely no; though she likes reading, she wants to be a counselor; no"
    assert answer_f1("open-domain", "likely no", gold) == 1.0
    assert answer_f1("single-hop", "likely no", gold) < 0.5


@pytest.mark.parametrize(
    ("answer", "reached"), [("She never said that, I don't know.", 1.0), ("In Norway.", 0.0)]
)
def test_where_nothing_was_said_the_right_answer_is_to_say_so(answer: str, reached: float):
    assert answer_f1("abstention", answer, "The conversation does not say.") == reached
