"""A plain list of turns, in each of its variants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from jitchat.transfer.json_text import moment_of
from jitchat.transfer.plain import read_plain
from jitchat.values import Role, Turn
from tests.transfer.files import plain_turns


def test_a_turn_has_role_content_time_and_name():
    item = {"role": "user", "content": "Hi", "created_at": "2026-03-02T09:14:00Z", "name": "Ann"}

    (found,) = read_plain([item], "talk")

    moment = datetime(2026, 3, 2, 9, 14, tzinfo=UTC)
    assert found.turns == (Turn(1, Role.USER, "Hi", moment, "Ann"),)
    assert (found.id, found.title) == ("talk", "talk")


@pytest.mark.parametrize(
    ("given", "role"),
    [
        ("user", Role.USER),
        ("Human", Role.USER),
        ("assistant", Role.ASSISTANT),
        ("AI", Role.ASSISTANT),
        (" model ", Role.ASSISTANT),
        ("tool", Role.TOOL),
    ],
)
def test_roles_have_several_names(given: str, role: Role):
    (found,) = read_plain([{"role": given, "content": "x"}], "talk")

    assert [turn.role for turn in found.turns] == [role]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (5, "item that is not an object"),
        (["user", "hi"], "item that is not an object"),
        ({"content": "x"}, "message without a known role"),
        ({"role": "narrator", "content": "x"}, "message without a known role"),
        ({"role": ["user"], "content": "x"}, "message without a known role"),
        ({"role": "system", "content": "x"}, "message with instructions"),
        ({"role": "Developer", "content": "x"}, "message with instructions"),
        ({"role": "user"}, "message whose content is not text"),
        ({"role": "user", "content": {"text": "x"}}, "message whose content is not text"),
        ({"role": "user", "content": " \n"}, "empty message"),
    ],
)
def test_omitted_items_are_counted_by_reason(item: object, reason: str):
    (found,) = read_plain([item, *plain_turns(2)], "talk")

    assert dict(found.skipped) == {reason: 1}
    assert [turn.position for turn in found.turns] == [1, 2]


@pytest.mark.parametrize("key", ["messages", "turns"])
def test_the_list_can_be_under_a_key_of_an_object(key: str):
    (found,) = read_plain({"title": "x", key: plain_turns(3)}, "talk")

    assert len(found.turns) == 3


def test_a_single_turn_is_a_list_of_one():
    (found,) = read_plain(plain_turns(1)[0], "talk")

    assert len(found.turns) == 1


@pytest.mark.parametrize("name", [5, [], "", " ", None])
def test_an_invalid_name_is_left_out(name: object):
    (found,) = read_plain([{"role": "user", "content": "x", "name": name}], "talk")

    assert found.turns[0].name is None


def test_a_name_is_shortened_to_one_line():
    name = "Ann\n\x1b[31m" + "x" * 5_000

    (found,) = read_plain([{"role": "user", "content": "x", "name": name}], "talk")

    assert found.turns[0].name == "Ann \x1b[31m" + "x" * 70 + "…"


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-03-02", datetime(2026, 3, 2, tzinfo=UTC)),
        (" 2026-03-02T09:14:00 ", datetime(2026, 3, 2, 9, 14, tzinfo=UTC)),
        (
            "2026-03-02T09:14:00+02:00",
            datetime(2026, 3, 2, 9, 14, tzinfo=timezone(timedelta(hours=2))),
        ),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1_772_442_840.5, datetime(2026, 3, 2, 9, 14, 0, 500_000, tzinfo=UTC)),
    ],
)
def test_times_are_iso_text_or_seconds(value: object, moment: datetime):
    assert moment_of(value) == moment


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        "",
        "yesterday",
        [],
        1e30,
        float("nan"),
        float("inf"),
        "0001-01-01T00:00:00+23:59",
        "9999-12-31",
        1_772_442_840_000,
    ],
)
def test_invalid_times_are_left_out(value: object):
    assert moment_of(value) is None


def test_an_unreadable_time_is_reported_and_the_turn_imported():
    (found,) = read_plain([{"role": "user", "content": "x", "created_at": "soon"}], "talk")

    assert found.turns[0].created_at is None
    assert dict(found.changed) == {"date that was not understood": 1}


@pytest.mark.parametrize("content", ["a\ud83db", "a\0b"])
def test_invalid_characters_are_replaced_and_reported(content: str):
    (found,) = read_plain([{"role": "user", "content": content}], "talk")

    assert found.turns[0].content.encode()
    assert dict(found.changed) == {"turn with invalid characters, which were replaced": 1}


def test_control_characters_in_a_turn_are_stored_unchanged():
    (found,) = read_plain([{"role": "user", "content": "\x1b[2J\x9b\u202e"}], "talk")

    assert found.turns[0].content == "\x1b[2J\x9b\u202e"
    assert not found.changed
