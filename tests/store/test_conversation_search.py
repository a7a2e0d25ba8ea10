"""Queries for conversations: filters, dates as people write them, and words."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from jitchat.errors import UsageError
from jitchat.store.reply_notes import PUT_NOTE, ReplyNote, note_row
from jitchat.store.search import DATES, EVERY, Filter, midnight, parse_query
from jitchat.store.store import ColdStore
from jitchat.values import Role
from tests.support import turn

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("told", "day"),
    [
        ("2026-11-03", "2026-11-03"),
        ("2026-11", "2026-11-01"),
        ("2026", "2026-01-01"),
        ("2026-11-3", "2026-11-03"),
        ("3.11.2026", "2026-11-03"),
        ("11/2026", "2026-11-01"),
        ("2026-11-03T10:00Z", "2026-11-03"),
        ("today", "2026-11-25"),
        ("Yesterday", "2026-11-24"),
        ("last week", "2026-11-16"),
        ('"last week"', "2026-11-16"),
        ("last-week", "2026-11-16"),
        ("3 days ago", "2026-11-22"),
        ("monday", "2026-11-23"),
        ("may", "2026-05-01"),
        ("7d", "2026-11-18"),
        ("2w", "2026-11-11"),
        ("24h", "2026-11-24"),
        ("1m", "2026-10-25"),
    ],
)
def test_a_date_is_understood_as_people_write_it(told, day):
    text, where = parse_query(f"the harbour after:{told} wall", NOW)
    assert (text, where.after, where.before) == ("the harbour wall", date.fromisoformat(day), None)
    assert parse_query(f"before:{told}", NOW)[1].before == where.after


@pytest.mark.parametrize(
    "query",
    ["project:Küche", "project:KÜCHE", "project:kuche", "tag:Ärger", "tag:#ÄRGER", "tag:arger",
     "model:МОДЕЛЬ", "model:modèle"],
)  # fmt: skip
def test_a_filter_compares_names_of_any_script_without_case_and_accents(
    store: ColdStore, query: str
):
    found = store.create("Bread", project="Küche und Keller")
    store.create("Stone", project="Werkstatt")
    store.tag(found.id, ["Ärger"])
    store.append(found.id, [turn(1, "Hello"), turn(2, "Hi", Role.ASSISTANT)])
    with store.database.write() as connection:
        reply = connection.execute("SELECT MAX(id) FROM turns").fetchone()[0]
        connection.execute(PUT_NOTE, note_row(reply, ReplyNote("Модель-Modèle")))

    assert store.conversation(found.id).tags == ("ärger",)
    _, where = parse_query(query, NOW)
    assert [known.id for known in store.conversations(where)] == [found.id]


@pytest.mark.parametrize("told", ["", "2026-13", "2026-02-30", "2/3/2026", "soon", "26-11-03"])
def test_an_invalid_date_is_refused_and_not_searched_for(told):
    with pytest.raises(UsageError) as refused:
        parse_query(f"harbour after:{told}", NOW)
    assert f"“after:{told}” is not a date. Use a date such as 2026-11-03" in str(refused.value)


def test_an_unknown_filter_is_refused_unless_it_is_in_quotes():
    with pytest.raises(UsageError, match="“is:open” is not a filter"):
        parse_query("is:open", NOW)
    assert parse_query('"before:hover" css', NOW) == (
        '"before:hover" css',
        Filter(is_archived=False),
    )


def test_only_date_filters_apply_within_one_conversation():
    text, where = parse_query("tag:work after:7d is:open", NOW, DATES)
    assert text == "tag:work is:open"
    assert where.has(midnight(date(2026, 11, 18)))
    assert not where.has(datetime(2026, 11, 17, 23, 59, tzinfo=UTC))
    assert not where.has(None)
    assert EVERY.has(None)
