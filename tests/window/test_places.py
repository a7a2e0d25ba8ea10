"""Every segment is found in the request, where the protocol put it."""

from __future__ import annotations

import json

from hypothesis import given

from jitchat.providers.protocols.protocol import protocol_named, protocol_names
from jitchat.providers.provider import Options
from jitchat.values import Mode
from jitchat.window.calibration import NO_CALIBRATION
from jitchat.window.places import FoundSegments, find_segments
from jitchat.window.plan import rewritten
from jitchat.window.tokens import EstimateCounter
from jitchat.window.window import ContextWindow, Kind
from jitchat.writing.pieces import Part
from tests.examples import examples
from tests.providers.streams import endpoint
from tests.support import demo_session
from tests.window.cases import Case, cases

WHERE = ("http://models.test/v1", "https://api.openai.com/v1")
QUESTION = 'what did we settle on for the "deploy window" 🚢?'


def written(
    window: ContextWindow, protocol: str, where: str = WHERE[0], *without: str
) -> tuple[ContextWindow, str]:
    """A window as a protocol requires it, and the body in which it leaves."""
    asked = Options(temperature=0.2, effort="low", without=frozenset(without))
    dialect, server = protocol_named(protocol), endpoint(base_url=where)
    rules = dialect.rules(server, asked)
    again = rewritten(window, EstimateCounter(), rules, NO_CALIBRATION) or window
    return again, dialect.request(server, again.messages(), asked).content.decode()


def check(window: ContextWindow, body: str) -> FoundSegments:
    found, case = find_segments(window, body), (window.mode, body[:99])
    ends = [0, *(place.end for place in found.places)]
    assert all(place.start >= end for place, end in zip(found.places, ends, strict=False)), case
    texts = [each.text for each in window.pieces if each.part is Part.TEXT and each.text]
    assert [json.loads(f'"{body[place.start : place.end]}"') for place in found.places] == texts, (
        case
    )
    return found


def test_in_each_mode_and_protocol_every_segment_is_in_the_request_of_the_demo(store):
    session = demo_session(store)
    for mode in Mode:
        window = session.preview(QUESTION, mode)
        for protocol in protocol_names:
            sent, body = written(window, protocol)
            for again, text in (
                (sent, body),
                written(window, protocol, WHERE[1]),
                written(window, protocol, WHERE[0], "system"),
                (sent, json.dumps(json.loads(body), indent=2)),
            ):
                found = check(again, text)
                assert found.missing == (), f"{mode} by {protocol}"
                kinds = {place.segment.kind for place in found.places}
                assert kinds >= {Kind.SYSTEM, Kind.DRAFT}, f"{mode} by {protocol}"


@given(cases())
@examples(10)
def test_whatever_is_said_it_is_found_as_it_was_written(case: Case):
    for mode in Mode:
        window = case.window(mode, EstimateCounter())
        if isinstance(window, ContextWindow):
            for protocol in protocol_names:
                check(*written(window, protocol))
            check(*written(window, "gemini", WHERE[0], "system"))
            check(window, json.dumps([{"content": each.content} for each in window.messages()]))


def test_a_body_of_another_window_has_none_of_the_segments_that_it_lacks(store):
    window = demo_session(store).preview(QUESTION, Mode.JIT)
    found = find_segments(window, '{"messages": [{"role": "user", "content": "no"}], "text": 4}')
    assert found == FoundSegments((), window.segments)
