"""From a recorded answer with calls to the request that hands them back, in every protocol."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import httpx
import pytest

from jitchat.providers.answer import Answer
from jitchat.providers.http.decode import ResponseDecoder
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.calls import CallNames
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.providers.protocols.refusals import refused_parameter, sent_in
from jitchat.providers.provider import (
    Finished,
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
    RequestAdapted,
)
from jitchat.providers.writing import stream_written
from jitchat.values import Echo, Message, Role, ToolCall, ToolResult, ToolUse, Usage
from tests.providers.golden import require_golden
from tests.providers.replay import RECORDED, replay, require_same_at_every_byte
from tests.providers.requested import requested
from tests.providers.streams import DONE, HELLO, endpoint, event, streamed
from tests.providers.tool_windows import (
    ENCRYPTED,
    FIRST,
    OFFERED,
    THOUGHT,
    WEATHER,
    sent_messages,
    turn_with_tools,
)
from tests.support import ScriptedProvider, result_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.providers.protocols.protocol import WireProtocol

ASKED = (Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "The weather, and the time?"))
KOELN, BONN = '{"city": "Köln"}', '{"city": "Bonn"}'
TURNS = {
    "anthropic.sse": [
        ToolCall("toolu_01A", "weather", '{"city": "Köln", "days": 2}'),
        ToolCall("toolu_01B", "clock", ""),
    ],
    "gemini.sse": [
        ToolCall("call00001", "weather", '{"city": "Köln", "days": 2}'),
        ToolCall("call00002", "clock", "{}"),
    ],
    "ollama.ndjson": [
        ToolCall("call00001", "weather", KOELN),
        ToolCall("call00002", "weather", BONN),
        ToolCall("call00003", "clock", "{}"),
    ],
    "openai.sse": [
        ToolCall("call_a", "weather", KOELN),
        ToolCall("call_b", "weather", BONN),
        ToolCall("call_c", "clock", ""),
    ],
    "openai_openrouter.sse": [ToolCall("toolu_01C", "weather", '{"city":"Bonn"}')],
    "responses.sse": [
        ToolCall("call_1", "clock", "{}"),
        ToolCall("call_0", "weather", '{"city":"Köln"}'),
    ],
}
every_turn = pytest.mark.parametrize("file", TURNS)


def protocol_of(file: str) -> WireProtocol:
    return protocol_named(re.split("[._]", file)[0])


async def answer_of(file: str) -> Answer:
    replayed = await replay(protocol_of(file), f"tools/{file}")
    assert replayed.error == ""
    answer = Answer()
    for piece in replayed.pieces:
        answer.take(piece)
    return answer


def results(calls: Sequence[ToolCall]) -> list[Message]:
    return [result_message(ToolResult(call, "fine")) for call in calls]


@every_turn
async def test_the_calls_of_an_answer_are_read(file):
    answer = await answer_of(file)
    assert list(answer.calls) == TURNS[file]
    assert answer.text == ("" if "openrouter" in file else "I look.")
    assert answer.finished is not None


@every_turn
async def test_the_next_request_is_the_one_on_file(file):
    answer = await answer_of(file)
    window = (*ASKED, answer.message(), *results(answer.calls))
    name = f"{file.partition('.')[0]}_next"
    require_golden(name, protocol_of(file), endpoint(), OFFERED, window)


@every_turn
async def test_they_are_the_same_wherever_the_stream_is_split(file):
    await require_same_at_every_byte(protocol_of(file), f"tools/{file}")


SHAPES = (
    "name_in_fragments",
    "name_in_fragments_without_ids",
    "ids_later",
    "all_number_0",
    "all_number_0_ids_later",
    "no_number_ids_later",
)


@pytest.mark.parametrize("shape", SHAPES)
async def test_calls_are_read_in_every_shape_of_their_fragments(shape):
    file = f"openai_{shape}.sse"
    answer = await answer_of(file)
    read = [(call.name, call.arguments) for call in answer.calls]
    assert read == [("weather", KOELN), ("clock", "{}")]
    if "without_ids" not in shape:
        assert [call.id for call in answer.calls] == ["call_a", "call_b"]
    assert answer.text == "I look."
    await require_same_at_every_byte(protocol_of(file), f"tools/{file}")


async def test_anthropic_gets_its_thinking_with_the_signature_as_it_was_received():
    sent = json.loads(
        requested(
            protocol_named("anthropic"),
            endpoint(),
            (*ASKED, (await answer_of("anthropic.sse")).message()),
            OFFERED,
        ).content
    )
    thinking, hidden, *_ = sent["messages"][1]["content"]
    assert thinking == {
        "type": "thinking",
        "thinking": "Both cities, then the time.",
        "signature": "EqQBCgIYAhIM+/9xZ=",
    }
    assert hidden == {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/"}


async def test_gemini_gets_each_signature_on_the_part_with_which_it_came():
    message = (await answer_of("gemini.sse")).message()
    request = requested(protocol_named("gemini"), endpoint(), (*ASKED, message), OFFERED)
    text, first, second, last = json.loads(request.content)["contents"][1]["parts"]
    assert text == {"text": "I look."}
    assert first["thoughtSignature"] == "CpQBAVSoXO4="
    assert second == {"functionCall": {"name": "clock", "args": {}}}
    assert last == {"text": "", "thoughtSignature": "CiQBAVSo"}


async def test_what_gemini_used_for_its_own_tools_is_input():
    assert (await answer_of("gemini.sse")).usage == Usage(127, 55, reasoning_tokens=31)


async def test_the_items_of_a_response_go_back_in_their_places_and_without_nulls():
    message = (await answer_of("responses.sse")).message()
    request = requested(protocol_named("responses"), endpoint(), (*ASKED, message), OFFERED)
    items = json.loads(request.content)["input"][2:6]
    assert [item["id"] for item in items] == ["rs_1", "msg_1", "fc_0", "fc_1"]
    assert items[0]["encrypted_content"] == "gAAAAABo+/é="
    assert "status" not in items[0]
    assert items[1]["phase"] == "commentary"


def answered_by(name: str, *events: dict) -> Message:
    """The message of an answer that is streamed by these events."""
    decoder = ResponseDecoder(protocol_named(name).parser(), "text/event-stream")
    names, answer = CallNames(ASKED, f"{name}:openai/m"), Answer()
    for piece in (*decoder.feed("".join(map(event, events)).encode()), *decoder.end()):
        answer.take(names.named(piece))
    return answer.message()


def item_event(index: int, **item: object) -> dict:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


CALLED = {"type": "function_call", "call_id": "call_1", "name": "clock", "arguments": "{}"}
THOUGHT_ITEM = {"type": "reasoning", "id": "rs_1", "summary": []}


@pytest.mark.parametrize(("encrypted", "goes_back"), [({}, 0), ({"encrypted_content": "gA"}, 1)])
def test_reasoning_that_the_server_did_not_encrypt_is_not_handed_back_for_it_kept_none(
    encrypted, goes_back
):
    events = item_event(0, **THOUGHT_ITEM, **encrypted), item_event(1, id="fc_1", **CALLED)
    message = answered_by("responses", *events, {"type": "response.completed"})
    items = sent_messages("responses", (*ASKED, message))
    assert [item.get("type") for item in items].count("reasoning") == goes_back
    assert [item.get("type") for item in items].count("function_call") == 1


def test_calls_that_a_response_names_only_at_its_end_are_read():
    response = {"status": "completed", "output": [CALLED]}
    message = answered_by("responses", {"type": "response.completed", "response": response})
    assert message.use.calls == (ToolCall("call_1", "clock", "{}"),)


def test_a_call_that_was_cut_goes_back_with_arguments_that_are_json():
    thought = THOUGHT_ITEM | {"encrypted_content": "gA"}
    cut = CALLED | {"arguments": '{"city": "Bo', "status": "incomplete", "id": "fc_1"}
    response = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    end = {"type": "response.incomplete", "response": response}
    message = answered_by("responses", item_event(0, **thought), item_event(1, **cut), end)
    items = sent_messages("responses", (*ASKED, message, *results(message.use.calls)))
    whole = cut | {"arguments": json.dumps({"INVALID_JSON": '{"city": "Bo'})}
    assert items[2:4] == [thought, whole]


def test_anthropic_is_not_handed_the_blank_text_between_thinking_and_a_call():
    blocks = [
        {"type": "thinking", "thinking": "Hm.", "signature": "Eq"},
        {"type": "text", "text": "\n\n"},
        {"type": "tool_use", "id": "t1", "name": "clock", "input": {}},
    ]
    events = [
        {"type": "content_block_start", "index": place, "content_block": block}
        for place, block in enumerate(blocks)
    ]
    message = answered_by("anthropic", *events, {"type": "message_stop"})
    written = sent_messages("anthropic", (*ASKED, message))[1]["content"]
    assert [block["type"] for block in written] == ["thinking", "tool_use"]


@pytest.mark.parametrize(
    ("model", "signed"),
    [
        *(("gemini-3.1-pro-preview", True), ("gemini-4-argon", True), ("gemini-10-x", True)),
        *(("gemini-flash-latest", True), ("gemini-2.5-flash", False), ("gemma-3-27b-it", False)),
    ],
)
def test_gemini_is_told_to_take_a_call_that_another_model_made(model, signed):
    window = (*ASKED, Message(Role.ASSISTANT, "", None, ToolUse(FIRST)), *results(FIRST))
    request = requested(protocol_named("gemini"), endpoint(model=model), window, OFFERED)
    first, second = json.loads(request.content)["contents"][1]["parts"]
    assert first.get("thoughtSignature") == ("skip_thought_signature_validator" if signed else None)
    assert "thoughtSignature" not in second


async def test_an_answer_without_calls_has_nothing_to_hand_back():
    for file in sorted(path.name for path in RECORDED.iterdir() if path.suffix == ".sse"):
        replayed = await replay(protocol_of(file), file)
        if not any(isinstance(piece, ToolCall) for piece in replayed.pieces):
            assert not any(isinstance(piece, Echo) for piece in replayed.pieces), file


def test_text_that_was_reasoning_is_none_of_the_answers():
    answer = Answer()
    for piece in (ReplyDelta("Hm."), ReasoningFound(), ReasoningDelta(" So."), ReplyDelta("Yes.")):
        answer.take(piece)
    assert (answer.text, answer.reasoning) == ("Yes.", "Hm. So.")
    assert answer.message(4) == Message(Role.ASSISTANT, "Yes.", 4)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("anthropic", "messages.1.content.0: Invalid `signature` in `thinking` block"),
        ("gemini", "Corrupted thought signature."),
        ("responses", "The encrypted content gAAA... could not be verified."),
    ],
)
async def test_a_turn_goes_on_without_reasoning_that_its_server_does_not_know_any_more(name, error):
    bodies: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content.decode())
        refusal = {"error": {"message": error, "type": "invalid_request_error"}}
        return httpx.Response(400, json=refusal) if len(bodies) % 2 else streamed(whole)

    whole = (RECORDED / f"{name}_text.sse").read_text(encoding="utf-8")
    provider = HttpProvider(endpoint(), protocol_named(name), httpx.MockTransport(handle))
    for _ in range(2):
        pieces = [piece async for piece in stream_written(provider, turn_with_tools(name), OFFERED)]
        told = "m did not accept its earlier reasoning: sent without it."
        assert RequestAdapted(told) in pieces
    await provider.aclose()
    secret = ENCRYPTED.get(name, THOUGHT)
    assert [secret in body for body in bodies] == [True, False, True, False]
    assert all("toolu_01" in body and "21 " in body for body in bodies)


def call_event(**fragment: object) -> str:
    return event({"choices": [{"delta": {"tool_calls": [fragment]}}]})


async def asked(
    *answers: httpx.Response, window: Sequence[Message] = ASKED
) -> tuple[list[object], list[dict]]:
    """The pieces of an answer, and the bodies of the requests for it."""
    bodies, waiting = [], list(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return waiting.pop(0)

    provider = HttpProvider(endpoint(), protocol_named("openai"), httpx.MockTransport(handle))
    pieces = [piece async for piece in stream_written(provider, window, OFFERED)]
    await provider.aclose()
    return pieces, bodies


async def test_an_id_that_is_missing_or_not_unique_is_made_and_in_no_earlier_answer():
    function = {"name": "weather", "arguments": "{}"}
    stream = "".join(
        call_event(index=number, function=function, **given)
        for number, given in enumerate([{}, {"id": "x"}, {"id": "x"}])
    )
    earlier = Message(Role.ASSISTANT, "", None, ToolUse((ToolCall("call00002", "weather", "{}"),)))
    window = (*ASKED, earlier, *results(earlier.use.calls))
    pieces, _ = await asked(streamed(stream, DONE), window=window)
    ids = [piece.id for piece in pieces if isinstance(piece, ToolCall)]
    assert ids == ["call00001", "x", "call00003"]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "registry.ollama.ai/library/gemma:latest does not support tools"),
        (404, "No endpoints found that support tool use. To learn more, visit: https://x"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'),
        (500, "tools param requires --jinja flag"),
        (400, "`tool calling` is not supported with this model"),
        (400, "tools is not supported in this model. For a list of supported models, refer to"),
        (400, "Function calling is not enabled for models/gemma-3-27b-it"),
        (400, "Tool use with function calling is unsupported by the model."),
        (400, "This model doesn't support tool use in streaming mode."),
        (400, "deepseek-reasoner does not support Function Calling"),
        (422, "Unsupported parameter: 'tools' is not supported with this model."),
    ],
)
async def test_a_model_that_takes_no_tools_is_asked_without_and_that_is_said(status, said):
    refusal = httpx.Response(status, json={"error": {"message": said}})
    pieces, bodies = await asked(refusal, streamed(HELLO, DONE))
    assert ["tools" in body for body in bodies] == [True, False]
    forget = "`jitchat tokens openai/m --forget`"
    told = f"m does not support tools: sent without tools, until you run {forget}."
    assert RequestAdapted(told) in pieces
    assert pieces[-1] == Finished("stop")


def test_what_is_wrong_with_one_tool_is_no_refusal_of_all():
    body = requested(protocol_named("openai"), endpoint(), ASKED, OFFERED).content.decode()
    sent = sent_in(body)
    assert "tools" in sent
    assert not {"function", "parameters", "properties", "city", "required"} & sent
    for said, param in (
        ("Invalid 'tools[0].function.name': string does not match pattern.", "tools[0].function"),
        ("Invalid schema for function 'weather': In context=('properties', 'city')", "tools[0]"),
        ("Invalid 'tools': array too long. Expected at most 128.", "tools"),
        (f"'{WEATHER.name}' is not supported by this tool_choice", "tool_choice"),
    ):
        complaint = json.dumps({"error": {"message": said, "param": param}})
        assert refused_parameter(400, complaint, sent) is None, said


def test_reasoning_that_is_missing_is_not_refused():
    said = "The `reasoning_content` in the thinking mode must be passed back to the API."
    complaint = json.dumps({"error": {"message": said}})
    assert refused_parameter(400, complaint, {"reasoning_content"}) is None


@pytest.mark.parametrize(
    "said",
    [
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at 3",
    ],
)
async def test_answers_that_never_had_reasoning_get_a_blank_where_the_server_wants_it(said):
    """The model before did not reason, or the app ended ahead of what is to be handed back."""
    before = Message(Role.ASSISTANT, "", None, ToolUse((ToolCall("t1", "weather", "{}"),)))
    own = turn_with_tools("openai")[-5:-3]
    said_since = (Message(Role.ASSISTANT, "Rain."), Message(Role.USER, "And now?"))
    window = (*ASKED, before, *results(before.use.calls), *said_since, *own)
    refusal = httpx.Response(400, json={"error": {"message": said}})
    pieces, bodies = await asked(refusal, streamed(HELLO, DONE), window=window)
    reasoning = [
        [turn.get("reasoning_content") for turn in body["messages"] if turn["role"] == "assistant"]
        for body in bodies
    ]
    assert reasoning == [[None, None, THOUGHT], [" ", " ", THOUGHT]]
    adapted = [piece.sentence for piece in pieces if isinstance(piece, RequestAdapted)]
    assert ["requires reasoning in every answer" in sentence for sentence in adapted] == [True]


async def test_extra_inputs_that_are_tools_are_refused_tools():
    detail = [{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not"}]
    refusal = httpx.Response(422, json={"detail": detail})
    _, bodies = await asked(refusal, streamed(HELLO, DONE))
    assert ["tools" in body for body in bodies] == [True, False]


async def test_a_result_whose_call_is_gone_is_sent_with_the_call_quoted():
    stray = result_message(ToolResult(ToolCall("gone", "weather", ""), "21 °C"))
    _, bodies = await asked(streamed(HELLO, DONE), window=(*ASKED, stray))
    last = bodies[0]["messages"][-1]
    assert last["role"] == "user"
    assert last["content"].endswith("<call>\nweather {}\n</call>\nIt returned:\n21 °C")


async def test_the_scripted_provider_calls_and_goes_on_with_the_result():
    call = ToolCall("1", "weather", KOELN)
    scripted = ScriptedProvider(("I look.", call), later=[("Rain.",)])
    window, answers = list(ASKED), []
    while not answers or answers[-1].calls:
        answers.append(Answer())
        async for piece in stream_written(scripted, window, OFFERED):
            answers[-1].take(piece)
        window += [answers[-1].message(), *results(answers[-1].calls)]
    assert [answer.text for answer in answers] == ["I look.", "Rain."]
    assert [answer.finished for answer in answers] == [Finished("tool_calls"), Finished("stop")]
    assert scripted.requests[1] == (*scripted.requests[0], *window[2:4])
