"""A turn with tool calls: its requests, its windows, and what is durable when."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import aclosing, closing

import pytest

from jitchat.errors import NotAnAnswer, ProviderError, WindowOverflow
from jitchat.events import ToolReturned, WindowBuilt
from jitchat.providers.provider import Finished
from jitchat.providers.tools import (
    NOT_RUN,
)
from jitchat.replay import Replay
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.values import Mode, Role, Status
from jitchat.window.budget import Budget
from jitchat.window.exchange import open_calls
from jitchat.window.steering import Once
from jitchat.window.window import Kind
from jitchat.window.written import sent_tokens
from jitchat.writing.calls import INTERRUPTED
from jitchat.writing.pieces import PLAIN
from jitchat.writing.write import write_messages
from tests.session.sending import durable, failures, kinds, send, stored_turns
from tests.support import ScriptedProvider, sent_window, session_on
from tests.tools.support import ScriptedTools, call, tool, with_tools

TWO = (call("a"), call("b", "count"))


class BreakingTools(ScriptedTools):
    """One of its tools has a defect."""

    def tools(self):
        return (*super().tools(), tool("break"))

    async def run(self, call, arguments, step):
        return 1 / 0 if call.name == "break" else await super().run(call, arguments, step)


def windows(events: list) -> list:
    return [event.window for event in events if isinstance(event, WindowBuilt)]


def last_turns(session, count: int) -> list[tuple[Role, str]]:
    return [(turn.role, turn.content) for turn in session.memory.turns[-count:]]


async def test_the_call_its_results_and_the_answer_are_turns_in_the_order_of_the_flow(store):
    session = with_tools(store, ("I look.", *TWO), ("A lamp, and three boats.",))
    events = await send(session, "what is there?")
    assert kinds(events) == [
        *("TurnStored", "TurnsRetrieved", "WindowBuilt", "ReplyDelta", "UsageReported"),
        *("StepStored", "ToolCalled", "ToolApproved", "ToolReturned"),
        *("WindowBuilt", "ReplyDelta"),
        *("UsageReported", "TurnStored", "TurnIndexed"),
    ]
    assert last_turns(session, 5) == [
        (Role.USER, "what is there?"),
        (Role.ASSISTANT, "I look."),
        (Role.TOOL, "a lamp"),
        (Role.TOOL, "3 boats"),
        (Role.ASSISTANT, "A lamp, and three boats."),
    ]
    calling, lamp, boats = session.memory.turns[-4:-1]
    assert calling.use.calls == TWO
    assert (lamp.use.answers, boats.use.answers) == TWO
    assert (lamp.name, boats.name) == ("look", "count")


async def test_an_answer_with_only_calls_is_a_turn_too(store):
    session = with_tools(store, TWO, ("Done.",))
    await send(session, "what is there?")
    assert session.memory.turns[-4].content == ""
    assert session.memory.turns[-4].use.calls == TWO


async def test_each_request_is_the_previous_one_with_calls_and_results_appended(store):
    answers = [(f"step {number}", call(f"c{number}")) for number in range(3)]
    session = with_tools(store, *answers, ("Done.",))
    for mode in Mode:
        session.provider.requests.clear()
        built = windows(await send(session, "what is there?", mode))
        requests = session.provider.requests
        assert [window.messages() for window in built] == requests
        assert [window.step for window in built] == [0, 1, 2, 3]
        for before, after in itertools.pairwise(requests):
            assert after[: len(before)] == before
            added = after[len(before) :]
            assert [each.role for each in added] == [Role.ASSISTANT, Role.TOOL]
            assert write_messages(added, PLAIN) == added
        assert {window.tools for window in built} == {built[0].tools}
        assert all(options.tools == built[0].tools for options in session.provider.options)


async def test_every_window_of_a_turn_adds_up_and_is_stored(store):
    session = with_tools(store, TWO, (call("c"),), ("Done.",))
    built = windows(await send(session, "what is there?"))
    for window in built:
        texts = sent_tokens(session.counter, window.messages(), ())
        assert window.used == window.counted == texts + window.tokens_of(Kind.TOOLS)
    for before, after in itertools.pairwise(built):
        assert after.segments[: len(before.segments)] == before.segments
        assert after.full_tokens - before.full_tokens == after.used - before.used
    replay = Replay(store, session.memory.conversation.id)
    opened = [replay.open(send) for send in replay.sends()]
    assert [each.window for each in opened] == built
    assert all(each.is_as_sent for each in opened)
    assert [each.reply.content for each in opened] == ["", "", "Done."]
    assert sent_window(session, opened[0].said) == built[-1]


async def test_calls_of_one_answer_run_concurrently_and_keep_their_order(store):
    gate, tools = asyncio.Event(), ScriptedTools()
    tools.waits["a"] = gate
    session = with_tools(store, TWO, ("Done.",), tools=tools)

    def watch(event) -> None:
        if isinstance(event, ToolReturned):
            gate.set()

    events = await send(session, "what is there?", watch=watch)
    assert tools.ran == ["a", "b"]
    returned = [event.turn.content for event in events if isinstance(event, ToolReturned)]
    assert returned == ["3 boats", "a lamp"]
    results = [message.content for message in session.provider.requests[1][-2:]]
    assert results == ["a lamp", "3 boats"]


async def test_a_result_is_durable_while_the_others_still_run(store):
    gate, tools = asyncio.Event(), ScriptedTools()
    tools.waits["a"] = gate
    session, found = with_tools(store, TWO, ("Done.",), tools=tools), []

    def watch(event) -> None:
        if isinstance(event, ToolReturned):
            found.append(durable(store).turns[-1][1:3])
            gate.set()

    await send(session, "what is there?", watch=watch)
    assert found == [("tool", "3 boats"), ("tool", "a lamp")]


async def test_results_that_return_together_are_durable_together(store):
    session, found = with_tools(store, TWO, ("Done.",)), []

    def watch(event) -> None:
        if isinstance(event, ToolReturned):
            found.append([turn[1:3] for turn in durable(store).turns[-2:]])

    await send(session, "what is there?", watch=watch)
    assert found == [[("tool", "a lamp"), ("tool", "3 boats")]] * 2


async def test_a_result_is_kept_if_another_tool_fails(store):
    session = with_tools(store, (call("a", "break"), call("b")), tools=BreakingTools())
    with pytest.raises(ZeroDivisionError):
        await send(session, "what is there?")
    results = {turn.use.answers.id: turn.content for turn in session.memory.turns[-2:]}
    assert results == {"a": INTERRUPTED, "b": "a lamp"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [(call("a", "lok"), "There is no tool 'lok'"), (call("a", "look", "{"), "not a JSON object")],
)
async def test_a_call_that_cannot_be_run_gets_a_result_with_the_reason(store, wrong, said):
    tools = ScriptedTools()
    session = with_tools(store, (wrong,), ("Sorry.",), tools=tools)
    events = await send(session, "what is there?")
    assert not failures(events)
    assert not tools.ran
    assert said in session.memory.turns[-2].content
    assert session.memory.turns[-2].use.is_error


async def test_the_last_step_asks_for_text_and_keeps_the_tools_in_the_request(store):
    session = with_tools(store, (call("a"),), (call("b"),), ("Done.",), most_steps=2)
    events = await send(session, "what is there?")
    assert not failures(events)
    assert [each.tool_choice for each in session.provider.options] == [None, None, "none"]
    assert len({each.tools for each in session.provider.options}) == 1


async def test_a_model_that_only_calls_is_stopped_and_its_calls_are_answered(store):
    session = with_tools(store, (call("a"),), most_steps=2)
    events = await send(session, "what is there?")
    (failed,) = failures(events)
    assert isinstance(failed.error, NotAnAnswer)
    assert "called tools 3 times" in str(failed.error)
    assert not open_calls(session.memory.turns)
    session.provider = ScriptedProvider(("Now.",))
    assert not failures(await send(session, "and now?"))


async def test_results_that_do_not_fit_stop_the_turn_and_are_stored_whole(store):
    tools = ScriptedTools({"look": "a lamp " * 4_000})
    used = with_tools(store, ("Done.",), tools=tools).preview("what is there?", Mode.JIT).used
    limit = used + Budget().reserve + 40
    session = with_tools(store, (call("a"),), ("Done.",), tools=tools, limit=limit)
    events = await send(session, "what is there?")
    (failed,) = failures(events)
    assert isinstance(failed.error, WindowOverflow)
    assert session.memory.turns[-1].content == "a lamp " * 4_000
    assert session.memory.turns[-3].status is Status.COMPLETE


async def test_the_room_passed_to_a_tool_is_what_its_result_can_use(store):
    for size in (4_000, 6_000):
        tools = ScriptedTools()
        session = with_tools(store, (call("a"),), ("Done.",), tools=tools, limit=size)
        tools.given["look"] = ""
        await send(session, "what is there?")
        room = tools.steps[0].room
        text = "lamp " * (room // 2)
        while session.counter.count(text) > room - 20:
            text = text[:-5]
        tools.given["look"] = text
        session = with_tools(store, (call("a"),), ("Done.",), tools=tools, limit=size)
        assert not failures(await send(session, "what is there?"))


async def test_a_turn_cancelled_while_a_tool_runs_has_a_result_for_every_call(store):
    tools = ScriptedTools()
    tools.waits["a"] = asyncio.Event()
    session = with_tools(store, TWO, ("Done.",), tools=tools)
    async with aclosing(session.send("what is there?", Mode.JIT)) as events:
        async for event in events:
            if isinstance(event, ToolReturned):
                break
    results = {turn.use.answers.id: turn.content for turn in session.memory.turns[-2:]}
    assert results["b"] == "3 boats"
    assert "the user stopped the turn" in results["a"]
    assert session.memory.turns[-4].status is Status.COMPLETE
    assert not failures(await send(session, "and now?"))


async def test_a_turn_stopped_by_a_failure_after_a_step_keeps_its_results(store):
    session = with_tools(store, TWO, (ProviderError("Down.", "Send again."),))
    (failed,) = failures(await send(session, "what is there?"))
    assert str(failed.error).startswith("Down.")
    assert [turn.content for turn in session.memory.turns[-3:]] == ["", "a lamp", "3 boats"]
    assert session.memory.turns[-4].status is Status.COMPLETE


async def test_a_call_without_a_result_gets_one_before_the_next_message(store, tmp_path):
    tools = ScriptedTools()
    tools.waits["a"] = asyncio.Event()
    session, copy = with_tools(store, TWO, ("Done.",), tools=tools), tmp_path / "killed.db"
    async with aclosing(session.send("what is there?", Mode.JIT)) as events:
        async for event in events:
            if isinstance(event, ToolReturned):
                with store.database.writing() as connection:
                    connection.execute("VACUUM INTO ?", (str(copy),))
                break
    with closing(Database(copy)) as database:
        found = ColdStore(database)
        again = session_on(found, found.conversation(session.memory.conversation.id))
        assert [each.id for each in open_calls(again.memory.turns)] == ["a"]
        assert not failures(await send(again, "and now?", Mode.FULL))
        (request,) = again.provider.requests
        assert write_messages(request, PLAIN) == request
        assert [m.content.splitlines()[-1] for m in request if "</call>" in m.content] == [
            INTERRUPTED,
            "3 boats",
        ]


async def test_an_alternative_reply_calls_tools_on_its_own_branch(store):
    session = with_tools(store, (call("a"),), ("First.",), (call("a"),), ("Second.",))
    said = stored_turns(await send(session, "what is there?"))[0]
    before = session.memory.turns[-3:]
    again = Once(again=said)
    events = [event async for event in session.send(said.content, Mode.JIT, again)]
    assert not failures(events)
    assert [turn.content for turn in session.memory.turns[-3:]] == ["", "a lamp", "Second."]
    assert not {turn.position for turn in before} & {
        turn.position for turn in session.memory.turns[-3:]
    }
    assert store.branches(session.memory.conversation.id)


async def test_later_windows_have_the_call_with_its_result_or_neither(store):
    session = with_tools(store, ("I look.", *TWO), ("Done.",))
    await send(session, "what is there?")
    session.provider = ScriptedProvider(("Yes.",))
    await send(session, "and now?", Mode.FULL)
    (request,) = session.provider.requests
    assert write_messages(request, PLAIN) == request
    assert [m.content for m in request if m.use] == ["I look.", "a lamp", "3 boats"]
    call_turn, first, _ = (turn for turn in session.memory.turns if turn.use)
    window = session.preview("and?", Mode.FULL, Once(dropped=frozenset({first.position})))
    assert not [segment for segment in window.segments if segment.use]
    assert call_turn.position in {row.turn for row in window.ledger}


async def test_calls_of_a_model_without_tools_are_text_of_the_reply(store):
    session = with_tools(store, ("I look.", call("a")), tools=ScriptedTools({}))
    events = await send(session, "what is there?")
    assert not failures(events)
    assert session.memory.turns[-1].content == "I look.\n\n[tool call: look {}]\n"


async def test_an_answer_that_breaks_off_within_its_calls_leaves_none_open(store):
    session = with_tools(store, (call("a"), ProviderError("Down.", "Send again.")))
    assert failures(await send(session, "what is there?"))
    assert session.memory.turns[-1].content == NOT_RUN
    assert not open_calls(session.memory.turns)


@pytest.mark.parametrize("arguments", ["", "null", '{"city": "Bo'])
async def test_a_call_truncated_by_the_answers_length_is_not_run(store, arguments):
    tools = ScriptedTools()
    answer = (call("a"), call("b", "count", arguments), Finished("max_tokens"))
    session = with_tools(store, answer, ("Done.",), tools=tools)
    assert not failures(await send(session, "what is there?"))
    assert tools.ran == ["a"]
    calling, lamp, cut, _ = session.memory.turns[-4:]
    assert calling.status is Status.CUT
    assert (lamp.content, lamp.use.is_error) == ("a lamp", False)
    assert cut.content.startswith("The answer was as long as it may be and ended within this call.")
    assert cut.use.is_error


async def test_a_complete_call_is_run_even_if_the_answer_reached_its_length(store):
    tools = ScriptedTools()
    session = with_tools(store, (*TWO, Finished("max_tokens")), ("Done.",), tools=tools)
    assert not failures(await send(session, "what is there?"))
    assert tools.ran == ["a", "b"]


@pytest.mark.parametrize(("text", "fails"), [((), True), (("I look.",), False)])
async def test_calls_of_a_filtered_answer_are_not_run(store, text, fails):
    tools = ScriptedTools()
    session = with_tools(store, (*text, call("a"), Finished("content_filter")), tools=tools)
    failed = failures(await send(session, "what is there?"))
    assert [str(each.error) for each in failed] == [
        "The model returned an empty answer: the provider's content filter stopped the reply"
        " (content_filter). Rephrase the message, or choose another model."
    ] * fails
    assert not tools.ran
    assert session.memory.turns[-1].content == NOT_RUN
    assert len(session.provider.requests) == 1
    session.provider = ScriptedProvider(("Now.",))
    assert not failures(await send(session, "and now?", Mode.FULL))


async def test_thirty_calls_of_one_answer_run_concurrently_and_each_has_a_result(store):
    gate, tools = asyncio.Event(), ScriptedTools()
    calls = tuple(call(f"c{number}", ("look", "count")[number % 2]) for number in range(30))
    tools.waits = {each.id: gate for each in calls[:-1]}
    session = with_tools(store, calls, ("Done.",), tools=tools)

    def watch(event) -> None:
        if isinstance(event, ToolReturned):
            assert len(tools.ran) == 30
            gate.set()

    assert not failures(await send(session, "what is there?", watch=watch))
    results = session.provider.requests[1][-30:]
    assert [message.use.answers for message in results] == list(calls)
    assert [message.content for message in results] == ["a lamp", "3 boats"] * 15
