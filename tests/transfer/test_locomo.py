"""LoCoMo files: what is imported, and the fields that are never read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from jitchat.transfer.locomo import is_locomo, read_locomo
from jitchat.values import Role
from tests.transfer.files import POISON, locomo_sample, read_file

if TYPE_CHECKING:
    from pathlib import Path


def test_sessions_come_in_order_of_their_numbers_each_with_its_date():
    (found,) = read_locomo([locomo_sample()])

    assert [(turn.position, turn.content, turn.created_at) for turn in found.turns] == [
        (1, "Hello Bo.", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        (
            2,
            "Look at this! [image: a photo of a red kite]",
            datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        ),
        (3, "Ten days later.", datetime(2023, 5, 25, 13, 14, tzinfo=UTC)),
        (4, "The last one.", datetime(2023, 6, 1, 0, 5, tzinfo=UTC)),
    ]
    assert not found.skipped
    assert not found.changed


def test_the_first_speaker_is_the_user_and_names_are_kept():
    (found,) = read_locomo([locomo_sample()])

    assert {(turn.name, turn.role) for turn in found.turns} == {
        ("Ann", Role.USER),
        ("Bo", Role.ASSISTANT),
    }
    assert (found.id, found.title) == ("conv-1", "Ann and Bo (conv-1)")


def test_fields_that_reveal_answers_are_never_read():
    (found,) = read_locomo([locomo_sample()])

    assert POISON not in repr(found)


def test_an_image_is_represented_by_its_caption():
    images = [{"speaker": "Ann", "text": " ", "blip_caption": "a cat"}]

    (found,) = read_locomo([locomo_sample(session_1=images, session_2=[], session_10=[])])

    assert [turn.content for turn in found.turns] == ["[image: a cat]"]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("words", "item that is not an object"),
        (None, "item that is not an object"),
        ({"speaker": "Cy", "text": "x"}, "message of an unknown speaker"),
        ({"speaker": ["Ann"], "text": "x"}, "message of an unknown speaker"),
        ({"text": "x"}, "message of an unknown speaker"),
        ({"speaker": "Ann", "text": ""}, "empty message"),
        ({"speaker": "Ann"}, "empty message"),
        ({"speaker": "Ann", "text": 5, "blip_caption": []}, "message whose content is not text"),
    ],
)
def test_omitted_items_are_counted_by_reason(item: object, reason: str):
    (found,) = read_locomo([locomo_sample(session_2=[item])])

    assert dict(found.skipped) == {reason: 1}
    assert [turn.position for turn in found.turns] == [1, 2, 3]


@pytest.mark.parametrize("date", ["someday", 5, {"a": 1}, "31:99 pm on 99 May, 2023"])
def test_an_unreadable_date_is_reported_and_the_turns_imported(date: object):
    (found,) = read_locomo([locomo_sample(session_1_date_time=date)])

    assert [turn.created_at for turn in found.turns[:2]] == [None, None]
    assert dict(found.changed) == {"date that was not understood": 2}


@pytest.mark.parametrize(
    "key",
    ["session_٣", "session_x", "1", "session_", f"session_{'9' * 5000}", "session_1 "],
    ids=lambda key: key[:12],
)
def test_keys_that_resemble_session_keys_are_ignored(key: str):
    (found,) = read_locomo([locomo_sample(**{key: [{"speaker": "Ann", "text": "x"}]})])

    assert len(found.turns) == 4


def test_a_session_with_leading_zeros_is_a_session():
    (found,) = read_locomo([locomo_sample(session_03=[{"speaker": "Ann", "text": "third"}])])

    assert found.turns[3].content == "third"


def test_a_session_that_is_not_a_list_is_counted():
    (found,) = read_locomo([locomo_sample(session_2={"a": 1})])

    assert dict(found.skipped) == {"session that is not a list": 1}


@pytest.mark.parametrize("speaker_a", [None, 5, [], " ", {"a": 1}])
def test_messages_of_speakers_without_a_name_are_left_out(speaker_a: object):
    (found,) = read_locomo([locomo_sample(speaker_a=speaker_a)])

    assert {turn.name for turn in found.turns} == {"Bo"}
    assert found.title == "Bo (conv-1)"


@pytest.mark.parametrize("name", [None, "", [], {"x": 1}])
def test_a_sample_without_an_id_gets_its_number(name: object):
    sample = locomo_sample() | {"sample_id": name}

    assert [each.id for each in read_locomo([locomo_sample(), sample])] == ["conv-1", "locomo-2"]


def test_a_broken_sample_does_not_hide_the_others():
    value = [5, {"conversation": []}, locomo_sample()]

    assert is_locomo(value)
    assert [len(each.turns) for each in read_locomo(value)] == [0, 0, 4]


def test_one_conversation_outside_a_list_is_accepted():
    assert [each.id for each in read_locomo(locomo_sample())] == ["conv-1"]


@pytest.mark.parametrize(
    "value", [None, 5, "x", [], [[]], {"conversation": {}}, [{"role": "user"}]]
)
def test_other_values_are_not_recognized_as_locomo(value: object):
    assert not is_locomo(value)


def test_the_real_file_is_read_whole(locomo: Path):
    found = {each.id: each for each in read_file(locomo)}

    assert list(found) == ["conv-26", "conv-30", "conv-41", "conv-42", "conv-43"]
    first = found["conv-26"]
    assert len(first.turns) == 419
    assert {turn.name for turn in first.turns} == {"Caroline", "Melanie"}
    assert first.turns[2].content.startswith("I went to a LGBTQ support group yesterday")
    assert all(not each.skipped and not each.changed for each in found.values())
    assert all(turn.created_at for each in found.values() for turn in each.turns)
