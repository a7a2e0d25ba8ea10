"""What is decided about the next message, and about every window from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitchat.draft import Draft
from jitchat.tui.chat.steering import NextMessage
from jitchat.values import Mode
from jitchat.window.steering import NO_MORE, Hold, Once, Steering

if TYPE_CHECKING:
    from tests.tui.chat.stage import Stage

WANTED = Once(wanted=frozenset({2}))


async def test_a_mode_for_one_message_is_over_with_it_or_with_the_next_mode(stage: Stage) -> None:
    steering = stage.steering
    stage.prompt.draft = "@full and now?"
    assert steering.next_message == NextMessage("and now?", Mode.FULL, NO_MORE)
    taken = steering.take(stage.prompt.message, None)
    assert taken == (Draft.by_user("and now?"), NO_MORE, Mode.FULL)
    stage.prompt.draft = "and now?"
    assert steering.next_message.mode is Mode.JIT
    steering.use_mode_once(Mode.RECENCY)
    assert (steering.next_message.mode, steering.mode) == (Mode.RECENCY, Mode.JIT)
    stage.surfaces.top.show_mode.assert_called_with(Mode.RECENCY, once=True)
    steering.use_mode(Mode.FULL)
    assert steering.once_mode is None
    stage.surfaces.top.show_mode.assert_called_with(Mode.FULL, once=False)
    stage.prompt.draft = "/once recency"
    assert steering.next_message.text == ""


async def test_what_holds_for_a_message_is_taken_with_it_and_given_back(stage: Stage) -> None:
    steering = stage.steering
    steering.once = WANTED
    steering.use_mode_once(Mode.FULL)
    _, once, mode = steering.take(Draft.by_user("hello"), after=2)
    assert (once, mode) == (Once(after=2, wanted=frozenset({2})), Mode.FULL)
    assert (steering.once, steering.once_mode) == (NO_MORE, None)
    steering.give_back(once, mode)
    assert (steering.once, steering.once_mode) == (WANTED, Mode.FULL)


async def test_a_row_is_taken_out_of_one_message_and_in_again(stage: Stage) -> None:
    steering = stage.steering
    assert steering.toggle_once(stage.session, 2, is_there=True)
    assert steering.once == Once(dropped=frozenset({2}))
    assert steering.toggle_once(stage.session, 2, is_there=False)
    assert steering.once == NO_MORE
    stage.session.hold(3, Hold.EXCLUDED)
    assert not steering.toggle_once(stage.session, 3, is_there=False)
    assert not steering.toggle_once(stage.session, None, is_there=False)
    assert stage.host.sentences == [
        "#3 is excluded; /exclude 3 undoes that.",
        "Only the row of a turn can be left out or included.",
    ]


async def test_pins_are_made_in_the_order_of_the_keys_and_undone_from_the_last(
    stage: Stage,
) -> None:
    choices, session, sentences = stage.choices, stage.session, stage.host.sentences
    for hold, turn in ((Hold.PINNED, 1), (Hold.EXCLUDED, 1), (Hold.PINNED, 2), (Hold.PINNED, 2)):
        choices.hold(session, hold, f"{turn}")
    await stage.host.finish()
    assert [sentence.split(";")[0].split(".")[0] for sentence in sentences] == [
        "#1 is pinned", "#1 is excluded", "#2 is pinned", "#2 is no longer pinned"
    ]  # fmt: skip
    states = []
    for _ in range(4):
        choices.undo_hold(session)
        await stage.host.finish()
        states.append(session.steering)
    assert states == [
        Steering(frozenset({2}), frozenset({1})),
        Steering(excluded=frozenset({1})),
        Steering(pinned=frozenset({1})),
        Steering(),
    ]
    sentences.clear()
    choices.undo_hold(session)
    choices.hold(session, Hold.PINNED, "99")
    await stage.host.finish()
    assert sentences == [
        "Nothing to undo: no turn was pinned or excluded.",
        "There is no #99 here.",
    ]
    choices.hold(session, Hold.PINNED, "1")
    await stage.host.finish()
    stage.steering.leave()
    assert stage.steering.pins.changes == []


async def test_a_pin_made_in_a_conversation_that_was_left_is_not_told_of_in_the_next(
    stage: Stage,
) -> None:
    stage.choices.hold(stage.session, Hold.PINNED, "1")
    stage.opening.number += 1
    await stage.host.finish()
    assert stage.session.steering.pinned == {1}
    assert stage.host.sentences == []


async def test_excluding_while_a_reply_streams_is_for_the_next_window(stage: Stage) -> None:
    stage.steering.busy = True
    stage.choices.hold(stage.session, Hold.EXCLUDED, "2")
    await stage.host.finish()
    (sentence,) = stage.host.sentences
    assert sentence == "#2 is excluded from the next message on."
    assert 2 not in stage.session.preview("which port", Mode.FULL).kind_of_turns()
