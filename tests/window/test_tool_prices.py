"""What tools, calls and results cost."""

from __future__ import annotations

import json

import pytest

from jitchat.values import Tool, ToolCall, ToolUse
from jitchat.window.tokens import EstimateCounter, TokenCounter
from jitchat.window.tool_prices import FRAMES, Style, style_of, tool_prices
from jitchat.window.written import TurnPricing
from jitchat.writing.calls import call_quote, tool_text

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


@every_style
def test_a_definition_costs_its_text_and_constants(style, o200k: TokenCounter):
    prices = tool_prices([WEATHER, CLOCK], o200k.count, style)
    texts = sum(o200k.count(tool_text(tool)) for tool in (WEATHER, CLOCK))
    assert prices.total == texts + FRAMES[style].tools + 2 * FRAMES[style].definition


@every_style
def test_each_tool_has_its_price_by_name_and_what_is_around_them_is_paid_once(style):
    both = tool_prices([WEATHER, CLOCK], len, style)
    assert [name for name, _ in both.by_tool] == ["clock", "get_current_weather"]
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


@every_style
def test_a_call_costs_its_name_and_arguments_and_a_constant(style):
    counter = EstimateCounter(style)
    call = ToolCall("1", "weather", '{"city": "Köln"}')
    said, called = (
        TurnPricing(counter)("I look."),
        TurnPricing(counter)("I look.", ToolUse((call,))),
    )
    texts = counter.count(f"I look.weather{call.arguments}") - counter.count("I look.")
    assert called - said == texts + FRAMES[style].call


@every_style
def test_a_result_costs_a_constant_more_than_its_text(style):
    price = TurnPricing(EstimateCounter(style))
    use = ToolUse(answers=ToolCall("1", "weather", ""))
    assert price("21 °C", use) - price("21 °C") == FRAMES[style].result


def test_a_call_that_is_quoted_costs_its_quote():
    counter = EstimateCounter()
    call = ToolCall("1", "weather", '{"city": "Köln"}')
    quoted = TurnPricing(counter, is_native=False)
    assert quoted("", ToolUse((call,))) == counter.count(call_quote(call))
    assert quoted("I look.", ToolUse((call,))) == quoted("I look.") + counter.count(
        call_quote(call)
    )


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
