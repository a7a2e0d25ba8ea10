"""What tools, calls and results cost."""

from __future__ import annotations

import json

import pytest

from jitchat.values import NO_TOOL_USE, Message, Role, Tool, ToolCall, ToolUse
from jitchat.window.tokens import EstimateCounter, TokenCounter, request_tokens
from jitchat.window.tool_prices import (
    Style,
    call_tokens,
    style_of,
    tool_prices,
    tool_tokens,
)

WEATHER = Tool(
    "get_current_weather",
    "Get the current weather in a given location",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "location": {
                    "type": "string",
                    "description": "The city and state, e.g. San Francisco, CA",
                },
                "unit": {
                    "type": "string",
                    "description": "The unit of temperature to return",
                    "enum": ["celsius", "fahrenheit"],
                },
            },
            "required": ["location"],
        }
    ),
)
CLOCK = Tool("clock", "The time.", "")
every_style = pytest.mark.parametrize("style", Style)


def test_what_openai_reported_for_a_tool_is_what_it_is_priced_at(o200k: TokenCounter):
    reported, texts = 101, 31  # by gpt-4o for the example of OpenAI's cookbook; its two messages
    assert tool_prices([WEATHER], o200k.count, Style.TYPES).total == reported - texts


@every_style
def test_each_tool_has_its_price_by_name_and_what_is_around_them_is_paid_once(style):
    both = tool_prices([WEATHER, CLOCK], len, style)
    assert [name for name, _ in both.each] == ["clock", "get_current_weather"]
    alone = [tool_prices([tool], len, style) for tool in (CLOCK, WEATHER)]
    assert both.total == sum(each.total for each in alone) - both.around
    assert tool_prices([], len, style).total == 0


@every_style
def test_a_longer_description_costs_more_wherever_it_stands(style):
    field = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    longer = {"type": "array", "items": {"type": "object", "properties": {"a": {"enum": [1] * 9}}}}
    prices = [
        tool_prices([Tool("t", text, json.dumps({"properties": {"b": each}}))], len, style).total
        for text, each in (("x", field), ("x" * 9, field), ("x" * 9, longer))
    ]
    assert prices == sorted(set(prices))


@every_style
@pytest.mark.parametrize(
    "schema",
    [
        "{}",
        '{"properties": []}',
        '{"properties": {"a": 1, "b": {"type": ["string", "null"], "default": 3}}}',
        '{"properties": {"a": {"anyOf": [{"type": "string"}, true, {}]}}, "required": 7}',
        '{"properties": {"a": {"type": "array"}}}',
    ],
)
def test_any_schema_has_a_price(style, schema):
    assert tool_prices([Tool("t", "", schema)], len, style).total > 0


def test_a_schema_that_nests_for_ever_is_priced():
    schema: dict[str, object] = {"type": "string"}
    for _ in range(99):
        schema = {"type": "object", "properties": {"a": schema}}
    assert tool_prices([Tool("t", "", json.dumps(schema))], len, Style.TYPES).total < 500


@every_style
def test_a_call_costs_its_name_and_arguments_and_a_little_more(style):
    count = EstimateCounter().count
    call = ToolCall("1", "weather", '{"city": "Köln"}')
    cost = call_tokens(call, count, style)
    assert count(call.name) + count(call.arguments) < cost < 40
    assert call_tokens(ToolCall("1", "clock", ""), count, style) > 0


@every_style
def test_a_result_costs_its_tools_name_and_what_is_around_it(style):
    use = ToolUse(answers=ToolCall("1", "weather", ""))
    assert 2 < tool_tokens(use, EstimateCounter().count, style) < 20
    assert tool_tokens(NO_TOOL_USE, len, style) == 0


def test_a_request_costs_its_calls_and_results_too():
    counter = EstimateCounter()
    call = ToolCall("1", "weather", '{"city": "Köln"}')
    said = Message(Role.ASSISTANT, "I look.")
    called = Message(Role.ASSISTANT, "I look.", use=ToolUse((call,)))
    more = request_tokens(counter, [called]) - request_tokens(counter, [said])
    assert more == call_tokens(call, counter.count)


@pytest.mark.parametrize(
    ("protocol", "by_openai", "style"),
    [
        ("openai", True, Style.TYPES),
        ("openai", False, Style.LISTED),
        ("responses", False, Style.TYPES),
        ("anthropic", False, Style.INVOKED),
        ("gemini", False, Style.DECLARED),
        ("ollama", False, Style.LISTED),
        ("reader", False, Style.LISTED),
    ],
)
def test_who_writes_tools_how(protocol, by_openai, style):
    assert style_of(protocol, by_openai=by_openai) is style
