"""A turn that is not sent whole says so, with its tokens and those of all of it."""

from __future__ import annotations

import json

import pytest

from jitchat.cli.windows import print_window
from jitchat.events import WindowBuilt
from jitchat.replay import Replay
from jitchat.session_options import SessionOptions
from jitchat.tool_fields import use_fields, use_from
from jitchat.tools.toolbox import Toolbox
from jitchat.tui.views.missing_turn import row_of
from jitchat.tui.views.sent_window_page import window_lines
from jitchat.tui.widgets.inspector import Inspector
from jitchat.tui.widgets.tool_block import folded
from jitchat.tui.widgets.window_rows import rows_of
from jitchat.values import Form, Mode, Other, Shortened, ToolUse
from jitchat.why import Standing, why_by_ledger
from jitchat.window import parts
from jitchat.window.budget import Budget
from jitchat.window.calibration import Calibration, Factor, Sample
from jitchat.window.carriers import carriers
from jitchat.window.plan import correct_window
from jitchat.window.record import segment_fields
from jitchat.window.steering import Once
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import Kind
from tests.session.sending import send
from tests.session.test_large_results import LOG, choose, with_log
from tests.support import ScriptedProvider, conversation_of, session_on, talk
from tests.tools.support import ScriptedTools, call


async def held(store, *answers):
    """A session that has sent a message with a large result, turn 5."""
    session = with_log(store, *answers, ("Done.",), ("Yes.",))
    events = await send(session, "what happened?")
    built = [event.window for event in events if isinstance(event, WindowBuilt)]
    return session, built


def of_turn(window, turn: int):
    return next(each for each in window.segments if each.turn == turn)


async def test_a_result_held_at_the_gate_says_what_there_is_of_it(store):
    session, built = await held(store)
    there, count = of_turn(built[-1], 5), session.counter.count
    assert there.form is Form.PREVIEW
    assert there.whole - there.tokens == count(LOG) - count(there.text)
    assert there.reason == f"preview, ~{there.tokens:,} of ~{there.whole:,}: large result"


async def test_full_sends_every_turn_and_says_how_many_are_in_part(store, capsys):
    session, _ = await held(store)
    window = session.preview("and now?", Mode.FULL)
    there, first = of_turn(window, 5), of_turn(window, 1)
    every = "mode full: every turn, 1 result in part"
    assert first.reason == every
    assert there.reason == f"preview, ~{there.tokens:,} of ~{there.whole:,}: {every}"
    assert window.full_tokens == window.used + there.whole - there.tokens
    assert there.whole > session.counter.count(LOG)
    print_window(window, "chat-1", session.comparison(window))
    extent = f"preview, ~{there.tokens:,} of ~{there.whole:,}"
    assert extent in capsys.readouterr().out
    assert any(extent in line for line in window_lines(window))
    found = why_by_ledger(window, 5)
    assert found.standing is Standing.IN_PART
    assert extent in str(found)
    assert row_of(session.memory.turn_at(5), window, None).standing == "preview"
    assert segment_fields(there)["form"] == "preview"


async def test_every_mode_says_so_and_jit_counts_what_is_stored(store):
    session, _ = await held(store)
    whole = session.preview("and now?", Mode.FULL).full_tokens
    for mode in Mode:
        window = session.preview("and now?", mode)
        assert of_turn(window, 5).form is Form.PREVIEW
        assert of_turn(window, 5).reason.startswith("preview, ")
        assert window.full_tokens == whole


async def test_a_compacted_result_is_listed_as_such_in_later_windows(store):
    session, _ = await held(store, (choose(5, "compact", "which crane is stuck"),))
    window = session.preview("and now?", Mode.FULL)
    there = of_turn(window, 5)
    assert there.form is Form.COMPACTED
    assert there.reason.startswith(f"compacted, ~{there.tokens:,} of ~{there.whole:,}: ")
    turn = session.memory.turn_at(5)
    texts = [text for text, _ in folded(turn, carriers(window)(turn))]
    assert "compacted in windows" in "".join(texts)


async def test_a_compacted_message_says_so_when_it_is_sent_and_later(store):
    session = with_log(store, ("Done.",))
    session.provider.script = ("Done.",)
    form = await session.compacted(LOG, "which crane is stuck")
    once = Once(form=form)
    draft = session.preview(LOG, Mode.JIT, once).draft
    assert draft.form is Form.COMPACTED
    assert draft.whole - draft.tokens == session.counter.count(LOG) - session.counter.count(form)
    async for _ in session.send(LOG, Mode.JIT, once):
        pass
    window = session.preview("and now?", Mode.FULL)
    assert of_turn(window, 3).reason.startswith("compacted, ")
    assert of_turn(window, 1).reason == "mode full: every turn, 1 turn in part"


async def test_a_result_without_room_for_a_preview_is_held(store):
    answers = tuple(call(f"a{number}") for number in range(12))
    provider = ScriptedProvider(answers, later=[("Done.",)])
    toolbox = Toolbox((ScriptedTools({"look": LOG}),))
    options = SessionOptions(budget=Budget(1_500, reserve=100), toolbox=toolbox)
    session = session_on(
        store, conversation_of(store, talk("one", "two")), provider, options=options
    )
    events = await send(session, "what happened?")
    window = [event.window for event in events if isinstance(event, WindowBuilt)][-1]
    results = [each for each in window.segments if each.kind is Kind.TOOL_RESULTS]
    assert {each.form for each in results} == {Form.HELD}
    assert all(each.reason.endswith(": no room for a preview") for each in results)


async def test_enter_on_a_row_opens_all_of_the_turn(store):
    session, _ = await held(store)
    window = session.preview("and now?", Mode.FULL)
    row = next(row for row in rows_of(window) if row.turn == 5)
    opened = Inspector._opened(Inspector(), row)
    assert (opened.turn, opened.text, opened.passages) == (5, "", ())


async def test_a_stored_window_keeps_its_forms(store):
    session, built = await held(store)
    replay = Replay(store, session.memory.conversation.id)
    assert [replay.open(each).window for each in replay.sends()] == built
    assert all(replay.open(each).is_as_sent for each in replay.sends())


def test_a_form_that_an_earlier_version_stored_is_a_preview():
    assert use_from({"form": "short"}) == ToolUse(form=Shortened("short", Form.PREVIEW))
    for form in Form:
        use = ToolUse(form=Shortened("short", form))
        assert use_from(json.loads(json.dumps(use_fields(use)))) == use


async def test_a_corrected_window_corrects_what_is_left_out_alike(store):
    session, _ = await held(store)
    plain = session.preview("and now?", Mode.FULL)
    known = Calibration.of([Sample(1_000, 1_500), Sample(2_000, 3_000), Sample(4_000, 6_000)])
    there, before = of_turn(correct_window(plain, known), 5), of_turn(plain, 5)
    assert there.whole == round(before.whole * there.tokens / before.tokens)


async def test_full_corrected_by_kind_counts_what_is_left_out(store):
    session, _ = await held(store)
    known = Calibration(1.5, samples=3, factors={Other.CALLS: Factor(8.0, 0.0)})
    session._meter.calibration = known
    window = session.preview("and now?", Mode.FULL)
    there = of_turn(window, 5)
    left_out = there.whole - there.tokens
    assert left_out > 20_000
    assert window.full_tokens - window.used == pytest.approx(left_out, rel=0.002)


async def test_full_grows_in_mid_turn_by_what_the_gate_held_back(store):
    _, (before, after) = await held(store)
    there = of_turn(after, 5)
    added = after.used - before.used
    assert after.full_tokens - before.full_tokens == added + there.whole - there.tokens


async def test_a_large_whole_text_is_counted_once_not_at_each_key(store, monkeypatch):
    session, _ = await held(store)
    counted = []
    count = EstimateCounter.count

    def noted(self, text):
        counted.append(text)
        return count(self, text)

    session.preview("a", Mode.FULL)
    monkeypatch.setattr(EstimateCounter, "count", noted)
    for draft in ("ab", "abc", "abcd"):
        for mode in Mode:
            session.preview(draft, mode)
    assert LOG not in counted
    assert parts.in_part("why", session.planning.history_before(100)) == "why, 1 result in part"
