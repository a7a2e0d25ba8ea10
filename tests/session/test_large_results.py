"""A tool result too large for the window: held, previewed, and what the model chooses for it."""

from __future__ import annotations

import asyncio
import json

from jitchat.events import ToolReturned, WindowBuilt
from jitchat.replay import sent_exchange
from jitchat.session_options import SessionOptions
from jitchat.tools.compacting import Compacted, Compacting
from jitchat.tools.toolbox import Toolbox
from jitchat.values import HANDLE_LARGE_RESULTS, Form, Mode, Shortened, ToolCall
from jitchat.window.budget import Budget
from jitchat.window.cost import choosing_sentences
from jitchat.window.steering import Once
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import Kind
from tests.session.sending import failures, send
from tests.support import ScriptedProvider, conversation_of, session_on, talk
from tests.tools.support import ScriptedTools, call

LOG = "".join(f"request {number} of the harbour took {number % 90} ms\n" for number in range(900))
LOG += "ERROR the crane is stuck at berth 14\n" + LOG


def choose(position: int, choice: str, instruction: str = "") -> ToolCall:
    given = {"id": f"#{position}", "choice": choice, "instruction": instruction}
    return ToolCall("h", HANDLE_LARGE_RESULTS, json.dumps({"results": [given]}))


def with_log(store, *answers, limit: int = 64_000, compactor=None):
    toolbox = Toolbox((ScriptedTools({"look": LOG}),))
    provider = ScriptedProvider((call("a"),), later=[*answers])
    options = SessionOptions(budget=Budget(limit), toolbox=toolbox, compactor=compactor)
    conversation = conversation_of(store, talk("one", "two"))
    return session_on(store, conversation, provider, options=options)


def result_of(events) -> str:
    """What the last window has of the last result."""
    window = [event.window for event in events if isinstance(event, WindowBuilt)][-1]
    return [each for each in window.segments if each.kind is Kind.TOOL_RESULTS][-1].text


async def test_the_model_sees_a_preview_and_the_whole_is_in_the_store(store):
    session = with_log(store, ("Done.",))
    events = await send(session, "what happened?")
    assert not failures(events)
    assert "this is a preview, all of it is kept" in result_of(events)
    stored = session.memory.turn_at(5)
    assert stored.content == LOG
    assert stored.use.form == Shortened(result_of(events), Form.PREVIEW)


async def test_held_results_and_steps_are_stored_with_the_window(store):
    session = with_log(store, (choose(5, "compact", "which crane"),), ("Done.",))
    events = await send(session, "what happened?")
    first, second, third = (event.window for event in events if isinstance(event, WindowBuilt))
    assert not first.held
    (held,) = third.held
    assert second.held == third.held
    preview = next(each for each in third.segments if each.turn == held.turn)
    assert (held.turn, held.whole, held.tokens) == (5, preview.whole, preview.tokens)
    sentences = choosing_sentences(third)
    assert any(each.startswith("held #5: ") and each.endswith("% saved)") for each in sentences)
    step = next(each for each in sentences if each.startswith("step 3: "))
    calls, chosen, last = step.removeprefix("step 3: ").split(" → ")
    assert calls.startswith("look (~")
    assert chosen.startswith("handle_large_results (~")
    assert last == "this one"
    sent, _ = sent_exchange(session.memory, session.memory.turn_at(3))
    assert sent == third


async def test_a_compacted_result_has_what_the_instruction_asks_for(store):
    session = with_log(
        store, (choose(5, "compact", "which crane is stuck, and where"),), ("Done.",)
    )
    events = await send(session, "what happened?")
    assert not failures(events)
    assert "stuck at berth 14" in result_of(events)
    assert "#5 compacted by the extractor" in result_of(events)
    provider = session.provider
    before, after = provider.requests[1:3]
    assert after[: len(before)] == before


async def test_later_windows_have_the_chosen_version_without_the_exchange_about_it(store):
    answers = ((choose(5, "compact", "which crane is stuck"),), ("Done.",), ("Yes.",))
    session = with_log(store, *answers)
    await send(session, "what happened?")
    await send(session, "and now?", Mode.FULL)
    request = session.provider.requests[-1]
    (carried,) = [message for message in request if message.use.answers]
    assert carried.content.startswith("[#5 compacted by")
    assert carried.content == session.memory.turn_at(5).use.form.text
    assert session.memory.turn_at(5).use.form.form is Form.COMPACTED
    assert not any(HANDLE_LARGE_RESULTS in str(message.use.calls) for message in request)


async def test_keeping_all_is_refused_with_the_excess_if_it_does_not_fit(store):
    session = with_log(store, (choose(5, "keep_all"),), ("Done.",), ("Yes.",))
    events = await send(session, "what happened?")
    assert LOG in result_of(events)
    assert session.memory.turn_at(5).use.form is None
    session = with_log(store, (choose(5, "keep_all"),), ("Done.",), limit=20_000)
    events = await send(session, "what happened?")
    assert "more than there is room for" in result_of(events)
    assert session.memory.turn_at(5).use.form is not None


async def test_an_invalid_choice_keeps_the_preview_and_says_what_to_write(store):
    for wrong in (
        ToolCall("h", HANDLE_LARGE_RESULTS, "{}"),
        choose(999, "compact"),
        choose(1, "keep_all"),
        choose(5, "burn"),
    ):
        session = with_log(store, (wrong,), ("Done.",))
        assert not failures(await send(session, "what happened?"))
        assert "preview" in session.memory.turn_at(5).use.form.text


class Slow:
    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        await asyncio.Event().wait()
        raise AssertionError


class Verbose:
    async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
        return Compacted(text, "a model that repeats")


async def test_the_extractor_replaces_a_model_that_is_slow_or_verbose(store, monkeypatch):
    monkeypatch.setattr("jitchat.tools.compacting.MODEL_SECONDS", 0.01)
    for compactor, why in ((Slow(), "no answer in"), (Verbose(), "did not fit")):
        chosen = choose(5, "compact", "which crane is stuck")
        session = with_log(store, (chosen,), ("Done.",), compactor=compactor)
        events = await send(session, "what happened?")
        assert why in result_of(events)
        assert "stuck at berth 14" in result_of(events)


async def test_five_results_are_compacted_concurrently_with_other_calls(store):
    waiting, release = [], asyncio.Event()

    class Patient:
        async def compact(self, text: str, instruction: str, limit: int) -> Compacted:
            waiting.append(instruction)
            if len(waiting) == 5:
                release.set()
            await release.wait()
            return Compacted(f"short of {instruction}", "a small model")

    tools = ScriptedTools({"look": LOG, "count": "3 boats"})
    results = [{"id": f"#{number}", "choice": "compact", "instruction": f"part {number}"}
               for number in range(5, 10)]  # fmt: skip
    choice = ToolCall("h", HANDLE_LARGE_RESULTS, json.dumps({"results": results}))
    provider = ScriptedProvider(
        tuple(call(f"a{number}") for number in range(5)),
        later=[(choice, call("b", "count")), ("Done.",)],
    )
    options = SessionOptions(budget=Budget(64_000), toolbox=Toolbox((tools,)), compactor=Patient())
    session = session_on(
        store, conversation_of(store, talk("one", "two")), provider, options=options
    )
    events = await send(session, "what happened?")
    assert not failures(events)
    returned = [event.turn for event in events if isinstance(event, ToolReturned)]
    assert returned[-2].content == "3 boats"  # not held up
    for number in range(5, 10):
        assert f"short of part {number}" in returned[-1].content
        assert f"short of part {number}" in session.memory.turn_at(number).use.form.text


async def test_a_result_kept_whole_can_use_the_room_left_by_previews(store):
    results = [{"id": f"#{number}", "choice": "keep_preview"} for number in (5, 6, 7)]
    results.append({"id": "#8", "choice": "keep_all"})
    choice = ToolCall("h", HANDLE_LARGE_RESULTS, json.dumps({"results": results}))
    provider = ScriptedProvider(
        tuple(call(f"a{number}") for number in range(4)), later=[(choice,), ("Done.",)]
    )
    whole = EstimateCounter().count(LOG)
    options = SessionOptions(
        budget=Budget(2 * whole, reserve=100), toolbox=Toolbox((ScriptedTools({"look": LOG}),))
    )
    session = session_on(
        store, conversation_of(store, talk("one", "two")), provider, options=options
    )
    events = await send(session, "what happened?")
    assert not failures(events)
    assert session.memory.turn_at(8).use.form is None
    assert session.memory.turn_at(7).use.form is not None
    window = [event.window for event in events if isinstance(event, WindowBuilt)][-1]
    assert window.used <= window.budget.budget


async def test_if_the_extractor_takes_too_long_head_and_tail_are_used(monkeypatch):
    monkeypatch.setattr("jitchat.tools.compacting.MODEL_SECONDS", 0.0)
    monkeypatch.setattr("jitchat.tools.compacting.EXTRACTOR_SECONDS", 0.0)
    told = await Compacting(EstimateCounter(), Slow()).told("#5", LOG, "the crane", 300)
    how, _, text = told.partition("\n")
    assert text.startswith("request 0 of the harbour")
    assert how.startswith("[#5 compacted by its head and tail (no answer in 0 s)")
    assert EstimateCounter().count(text) <= 300


async def test_the_cost_of_a_turn_changes_with_its_version(store):
    session = with_log(store, (choose(5, "keep_all"),), ("Done.",))
    await send(session, "what happened?")
    history = session.planning.history_before(100)
    cost = history.costs[history.find(5)]
    assert cost > session.counter.count(LOG)
    session.memory.keep_forms({5: Shortened("short")})
    history = session.planning.history_before(100)
    assert history.costs[history.find(5)] < 50
    assert history.wholes == {5: cost}
    assert history.whole_cost(history.find(5)) == cost
    assert history.held_back(len(history.turns)) == cost - history.costs[history.find(5)]


async def test_a_refused_message_can_be_sent_again_compacted(store):
    session = with_log(store, ("Done.",), limit=9_000)
    session.provider.script = ("Done.",)
    assert failures(await send(session, LOG, Mode.JIT))
    form = await session.compacted(LOG, "which crane is stuck")
    once = Once(form=form)
    shown = session.preview(LOG, Mode.JIT, once)
    assert shown.segments[-1].text.endswith(form)
    events = [event async for event in session.send(LOG, Mode.JIT, once)]
    assert not failures(events)
    assert session.provider.requests[-1][-1].content.endswith(form)
    said = session.memory.turn_at(3)
    assert (said.content, said.use.form) == (LOG, Shortened(form, Form.COMPACTED))
    await send(session, "And now?", Mode.FULL)
    assert not any(LOG in message.content for message in session.provider.requests[-1])
