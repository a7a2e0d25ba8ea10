"""Index entries: one line that says what the turn says, its names, its dates, its decision."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.index.entry import MOST_ENTITIES, SUMMARY_WIDTH, index_entry
from tests.examples import examples
from tests.support import turn

PLEASANTRIES = "Hi there! Thanks so much for asking. Sure, no problem at all. Great question! "
CHATTER = (
    "It was raining all morning and nobody felt like going out. We sat around for a while and"
    " drank some more tea than was good for us. "
)
KEY = "We agreed to deploy on Friday 15:00 UTC from the main branch."


def summary(text: str) -> str:
    return index_entry(turn(1, text)).summary


def test_a_short_turn_is_its_own_summary_on_one_line():
    assert summary("Let's meet\n\n at nine. ") == "Let's meet at nine."


@pytest.mark.parametrize(
    "text",
    [
        CHATTER + CHATTER + KEY,
        PLEASANTRIES + CHATTER + KEY + " " + CHATTER,
        KEY + " " + CHATTER + CHATTER,
        f"{PLEASANTRIES}\n\n```python\n" + "value = compute(value)\n" * 40 + f"```\n\n{KEY}",
        "\n".join(f"- {CHATTER}" for _ in range(3)) + f"\n- {KEY}",
        CHATTER * 200 + KEY,
        CHATTER * 2_000 + KEY,
    ],
    ids=["last", "middle", "first", "after code", "in a list", "far down", "beyond reach"],
)
def test_the_summary_holds_what_matters_wherever_it_stands(text):
    assert KEY in summary(text)
    assert len(summary(text)) <= SUMMARY_WIDTH


def test_pleasantries_give_way_to_facts():
    text = PLEASANTRIES + "The backup server in Oslo has 64 GB of memory and two spare disks left."
    assert "64 GB" in summary(text + " Have a nice day! " + "Thanks again, and bye for now! " * 3)
    assert "Great question" not in summary(text + " Let me know. " * 10)


def test_a_statement_is_worth_more_than_a_question():
    asked = "What do you think about the colours of the new logo on the landing page, by the way?"
    fact = "The new logo on the landing page has the colours of the sea and of the sand beside it."
    assert fact in summary(f"{asked} {fact}")
    assert asked not in summary(f"{asked} {fact}")


def test_of_a_long_sentence_the_telling_clauses_are_kept():
    winding = "after we had talked about the weather, the food, the long way home and the garden, "
    text = f"So {winding * 4}we decided to rent the flat in Porto, which made everybody happy."
    assert "decided to rent the flat in Porto" in summary(text)
    assert summary(text).startswith("…")
    assert len(summary(text)) <= SUMMARY_WIDTH


def test_sentences_keep_their_order():
    text = CHATTER + "First we lock 8443. " + CHATTER + "Then we ship on 5 May."
    kept = summary(text)
    assert 0 <= kept.index("8443") < kept.index("5 May")


def test_of_a_long_turn_the_line_names_its_headings_beside_what_it_says():
    parts = "\n\n".join(f"## {name}\n\n{CHATTER * 4}" for name in ("Setup", "Costs", "Rollback"))
    kept = summary(f"{parts}\n\n```sh\n# no heading\n```\n\n{KEY}")
    assert KEY in kept
    assert kept.endswith(" · Setup, Costs, Rollback")
    assert len(kept) <= SUMMARY_WIDTH


def test_of_long_prose_the_line_names_who_and_what_comes_up_most():
    prose = (
        "So Oleg met Mirabelle there again. " * 9 + "And then Ines called Oleg about Porto. " * 4
    )
    kept = summary(CHATTER * 10 + prose + KEY)
    assert KEY in kept
    assert kept.partition(" · ")[2].split(", ")[:2] == ["Oleg", "Mirabelle"]


def test_what_the_line_says_already_is_not_named_again():
    kept = summary(f"# Deploy on Friday\n\n{CHATTER * 12}\n\n# Tea\n\n{KEY}")
    assert kept.casefold().count("deploy on friday") == 1
    assert kept.endswith(" · Tea")


@pytest.mark.parametrize(
    "text", ["", " \n\t ", "?!…—", "```", "```\n```\n" * 40, "…" * 500, "a " * 300]
)
def test_a_turn_that_says_nothing_has_a_summary_all_the_same(text):
    entry = index_entry(turn(1, text))
    assert len(entry.summary) <= SUMMARY_WIDTH
    assert not entry.decision


def test_chinese_is_summarised_by_sentences_too():
    text = "今天天气很好。" * 40 + "我们决定在2026年5月1日发布。" + "大家都很高兴。" * 40
    assert "2026年5月1日" in summary(text)


def test_control_characters_and_markup_are_text():
    assert summary("\x1b[2J[bold red]Hi[/] \u202eevil") == "\x1b[2J[bold red]Hi[/] \u202eevil"


def test_an_entry_has_names_dates_and_the_decision():
    said = replace(
        turn(7, "Yesterday we decided to book the Hotel Astoria for Caroline."),
        created_at=datetime(2026, 3, 13, 10, tzinfo=UTC),
    )
    entry = index_entry(said)
    assert entry.turn == 7
    assert entry.entities == ("Hotel Astoria", "Caroline")
    assert entry.dates == ("2026-03-12",)
    assert entry.decision


def test_an_entry_has_not_too_many_names():
    entry = index_entry(turn(1, " and ".join(f"`item{number}`" for number in range(30))))
    assert entry.entities == tuple(f"item{number}" for number in range(MOST_ENTITIES))


def test_a_turn_without_a_date_of_its_own_resolves_nothing():
    assert index_entry(turn(1, "See you tomorrow.")).dates == ()


@examples(30)
@given(st.text(st.characters(codec=None), max_size=400))
def test_any_text_has_an_entry_of_short_lines(text):
    entry = index_entry(turn(1, text))
    assert len(entry.summary) <= SUMMARY_WIDTH
    assert not any(line.count("\n") for line in (entry.summary, *entry.entities, *entry.dates))
    assert all((*entry.entities, *entry.dates))
