"""Requests of a turn with tools: each begins with the bytes of the previous one."""

from __future__ import annotations

import itertools
import json

import pytest

from jitchat.events import WindowBuilt
from jitchat.providers.http.provider import HttpProvider
from jitchat.providers.protocols.protocol import protocol_named
from jitchat.session_options import SessionOptions
from jitchat.tools.offering import Asking, OfferRules
from jitchat.tools.toolbox import Toolbox
from jitchat.values import HANDLE_LARGE_RESULTS, REQUEST_CONTEXT, Mode, ToolCall
from jitchat.window.budget import Budget
from tests.providers.streams import endpoint
from tests.providers.tool_windows import FIELDS, echo_of
from tests.session.sending import failures, send
from tests.support import ScriptedProvider, conversation_of, session_on, talk
from tests.tools.support import ScriptedTools, call

LOG = "".join(f"request {number} took {number % 90} ms\n" for number in range(1_500))
ASK = ToolCall("r", REQUEST_CONTEXT, '{"query": "harbour master"}')
CHOOSE = {"id": "#123", "choice": "compact", "instruction": "the slowest"}
HANDLE = ToolCall("h", HANDLE_LARGE_RESULTS, json.dumps({"results": [CHOOSE]}))
TURN = (call("a", "count"), call("b", "look", '{"query": "Köln"}'))


async def windows(store, protocol: str):
    """The windows of a turn with parallel calls, a held result, a choice and a question."""
    answers = [
        ("I look.", *TURN, echo_of(protocol, TURN)),
        (HANDLE,),
        ("I ask.", ASK, echo_of(protocol, (ASK,))),
        (call("a", "count"),),
        ("Done.",),
    ]
    texts = ["Who is the harbour master?", "Odile Brandt is."]
    texts += [f"Note {number}: " + "ropes and tar " * 60 for number in range(118)]
    options = SessionOptions(
        budget=Budget(40_000),
        toolbox=Toolbox((ScriptedTools({"look": LOG, "count": "3 boats"}),)),
        offers=OfferRules(Asking.ON),
    )
    provider = ScriptedProvider(answers[0], later=answers[1:])
    session = session_on(store, conversation_of(store, talk(*texts)), provider, options=options)
    events = await send(session, "Who was that, and what is there?", Mode.JIT)
    assert not failures(events)
    return session, [event.window for event in events if isinstance(event, WindowBuilt)]


@pytest.mark.parametrize("protocol", FIELDS)
async def test_every_request_is_the_previous_one_with_more_appended(store, protocol):
    session, built = await windows(store, protocol)
    assert [window.step for window in built] == [0, 1, 2, 3, 4]
    provider = HttpProvider(endpoint(), protocol_named(protocol))
    bodies = []
    for window in built:
        wire = provider.wire(window.messages(), session.request_options(window))
        bodies.append(json.loads(wire.body))
    await provider.aclose()
    field = FIELDS[protocol]
    for before, after in itertools.pairwise(bodies):
        said, more = (json.dumps(body[field]) for body in (before, after))
        assert more.startswith(said[:-1])
        assert len(more) > len(said)
        rest = [
            {name: value for name, value in body.items() if name != field}
            for body in (before, after)
        ]
        assert rest[0].get("tools") == rest[1].get("tools")
        assert rest[0].get("system") == rest[1].get("system")
        assert rest[0].get("instructions") == rest[1].get("instructions")
        assert rest[0].get("systemInstruction") == rest[1].get("systemInstruction")
