"""Passes: what an observer makes stands only where it is whole; what it forgets is added."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.memory import result_turn
from jitchat.statements import Observation, Observations, Source
from jitchat.store.store import local_now
from jitchat.synthesis.carrying import complete, dropped
from jitchat.synthesis.observer import EXTRACTOR, Batch
from jitchat.synthesis.passes import PassMaker, fault_of, reflection_fault
from jitchat.synthesis.policy import Reflect
from jitchat.synthesis.sentences import words_of
from jitchat.values import REQUEST_CONTEXT, Role, ToolCall, ToolResult, ToolUse, Turn
from tests.synthesis.support import COUNTER, ScriptedObserver, one_line_each, said, small_talk

TURNS = (*small_talk(6), said(7, "We decided to deploy on Tuesday with Ana."))
BATCH = Batch(TURNS, 100)


def line(text: str, first: int = 1, last: int | None = None) -> Observation:
    return Observation(text, Source(first, last or first))


BAD = {
    "empty": (),
    "of other turns": (line("Something else.", 90),),
    "blank": (line("  "),),
    "one line again and again": tuple(line("The same.") for _ in range(5)),
    "a line that repeats itself": (line("and then it said so " * 30),),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
async def test_a_bad_result_is_replaced_by_what_is_built_in_and_the_pass_says_so(bad):
    maker = PassMaker(ScriptedObserver(lambda _: bad), COUNTER)
    made = await maker.observe(BATCH, 1, 400)
    assert made.made_by == EXTRACTOR
    assert "scripted-observer" in str(made.note["told"])
    assert fault_of(made.lines, TURNS) == ""


async def test_a_good_result_stands():
    made = await PassMaker(ScriptedObserver(one_line_each), COUNTER).observe(BATCH, 1, 400)
    assert made.made_by == "scripted-observer"
    assert (made.first, made.last, len(made.lines)) == (1, 7, 7)
    assert made.note["before"] == 400


async def test_what_an_observer_forgets_and_must_not_is_added_word_for_word():
    forgetful = ScriptedObserver(lambda _: [line("They talked about kettles.", 1, 7)])
    made = await PassMaker(forgetful, COUNTER).observe(BATCH, 1, 400)
    texts = [each.text for each in made.lines]
    assert "user: We decided to deploy on Tuesday with Ana." in texts
    named = {word for text in texts for word in words_of(text)}
    assert words_of("5") <= named


async def test_turns_that_the_user_keeps_out_are_shown_to_no_model():
    observer = ScriptedObserver(one_line_each, batches=[])
    kept_out = Batch(TURNS, 100, kept_out=frozenset({7}))
    made = await PassMaker(observer, COUNTER).observe(kept_out, 1, 400)
    assert observer.batches is not None
    assert [turn.position for turn in observer.batches[0].turns] == [1, 2, 3, 4, 5, 6]
    (own,) = [each for each in made.lines if 7 in each.source.turns]
    assert own.text == "user: We decided to deploy on Tuesday with Ana."


STANDING = Observations(
    tuple(line(f"Ana: The {word} is of value {at}.", at) for at, word in enumerate("abcdefgh", 1)),
    8,
)
WANTED = Reflect((200, 100, 50), 220)


@pytest.mark.parametrize("bad", [BAD["empty"], BAD["of other turns"], (line("Hm."),)])
async def test_a_reflection_that_lost_everything_never_replaces_what_stands(bad):
    observer = ScriptedObserver(one_line_each, rewritten=lambda _: bad)
    made = await PassMaker(observer, COUNTER).reflect(STANDING, WANTED, 1)
    assert made is None or made.made_by == EXTRACTOR
    assert made is None or not reflection_fault(made.lines, STANDING.lines)


async def test_a_reflection_that_is_not_smaller_is_tried_at_a_stronger_level():
    rooms: list[int] = []

    class Level(ScriptedObserver):
        async def reflect(self, standing, room):
            rooms.append(room)
            kept = standing.lines if len(rooms) < 3 else standing.lines[:4]
            return (await super().reflect(standing, room)).__class__(kept, self.name)

    made = await PassMaker(Level(one_line_each), COUNTER).reflect(STANDING, WANTED, 1)
    assert rooms == [200, 100, 50]
    assert made is not None
    assert len(made.lines) == 4
    assert (made.first, made.last) == (1, 8)


async def test_where_nothing_gets_smaller_no_pass_is_made():
    tiny = Observations((line("Ana: 1."),), 1)
    assert await PassMaker(None, COUNTER).reflect(tiny, Reflect((5, 4), 6), 1) is None


def test_what_a_pass_cannot_read_of_calls_and_results_is_dropped():
    call = ToolCall("c", "Write", '{"path": "a.md", "content": "The mast is red."}')
    said = Turn(2, Role.ASSISTANT, "", use=ToolUse((call,)))
    long = result_turn(ToolResult(call, "rope\n" * 500), local_now())
    short = result_turn(ToolResult(call, "ok"), local_now())
    own = replace(long, use=ToolUse(answers=replace(call, name=REQUEST_CONTEXT)))
    lines = complete((), (said, long, short, own))
    texts = [" ".join(dropped(lines, (turn,))[0].sentences) for turn in (said, long)]
    assert "The mast is red." in texts[0]
    assert "all but this of 2,500 characters: Write(" in texts[1]
    assert not [each for each in dropped(lines, (short, own)) if "all but" in str(each.sentences)]
