"""Ollama's own chat: every variant of a line that it sends."""

from __future__ import annotations

import json

import pytest

from jitchat.errors import NotAnAnswer, RequestRefused
from jitchat.providers.protocols.ollama import OllamaProtocol
from jitchat.providers.provider import (
    Finished,
    Piece,
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
)
from jitchat.values import ToolCall, Usage


def said(*lines: object) -> list[Piece]:
    """What the lines say, and what they left to be said at the end."""
    parser = OllamaProtocol().parser()
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    pieces = [piece for text in texts for piece in parser.parse("", text)]
    return [*pieces, *parser.end()]


def message(**fields: object) -> dict[str, object]:
    return {"model": "m", "message": {"role": "assistant"} | fields, "done": False}


@pytest.mark.parametrize(
    "line",
    [
        "",
        " \r",
        {},
        {"message": None},
        {"message": "x"},
        message(),
        message(content=""),
        message(content=None, thinking=None, tool_calls=None),
        message(content=7, thinking=[], tool_calls=[None, 7, {}, {"function": None}]),
        {"done": False, "done_reason": "", "eval_count": 3},
        {"status": "loading"},
    ],
)
def test_a_line_that_says_nothing_says_nothing(line):
    assert said(line) == []


def test_thought_and_text_are_told_apart():
    assert said(message(content="Yes.", thinking="hm")) == [
        ReasoningDelta("hm"),
        ReplyDelta("Yes."),
    ]


def test_tags_in_the_text_are_read_where_the_server_does_not():
    assert said(message(content="<thi"), message(content="nk>hm</think>\nYes.")) == [
        ReasoningDelta("hm"),
        ReplyDelta("Yes."),
    ]
    assert said(message(content="hm\n</think>\nYes.")) == [
        ReplyDelta("hm\n"),
        ReasoningFound(),
        ReplyDelta("Yes."),
    ]
    assert said(message(thinking="hm"), message(content="a\n</think>")) == [
        ReasoningDelta("hm"),
        ReplyDelta("a\n</think>"),
    ]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"city": "Köln"}, '{"city": "Köln"}'), ({}, "{}"), ('{"a":', '{"a":'), (None, "")],
)
def test_a_calls_arguments_are_given_as_json(arguments, text):
    call = {"function": {"index": 0, "name": "f", "arguments": arguments}}
    assert said(message(tool_calls=[call, call])) == [ToolCall("", "f", text)] * 2


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({"prompt_eval_count": 11, "eval_count": 18}, [Usage(11, 18)]),
        (
            {"prompt_eval_count": 40, "prompt_eval_cached_count": 32, "eval_count": 5},
            [Usage(40, 5, cached_tokens=32)],
        ),
        ({"eval_count": 18}, [Usage(None, 18)]),
        ({"prompt_eval_count": 11}, [Usage(11, None)]),
        ({"prompt_eval_count": None, "eval_count": True}, []),
        ({"prompt_eval_count": 0, "eval_count": 0}, []),
        ({"prompt_eval_count": 0, "eval_count": 18}, [Usage(None, 18)]),
        ({}, []),
    ],
)
def test_what_is_not_counted_is_not_known(counts, usage):
    last = message(content="") | {"done": True, "done_reason": "stop"} | counts
    assert said(last) == [Finished("stop"), *usage]


@pytest.mark.parametrize("reason", ["stop", "length", "load", "unload"])
def test_the_reason_is_given_in_its_own_word(reason):
    assert said({"done": True, "done_reason": reason}) == [Finished(reason)]


def test_nothing_is_waited_for_after_the_last_line():
    parser = OllamaProtocol().parser()
    assert list(parser.parse("", '{"message":{"content":"</"},"done":true}')) == [ReplyDelta("</")]
    assert parser.over


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ({"error": "out of memory"}, ""),
        ({"error": {"message": "out of memory"}}, ""),
        ({"error": "out of memory", "done": True}, ""),
        ({"message": "out of memory"}, "error"),
    ],
)
def test_an_error_in_the_stream_is_told_in_the_servers_words(line, event):
    parser = OllamaProtocol().parser()
    assert list(parser.parse("", json.dumps(message(content="</")))) == []
    pieces = parser.parse(event, json.dumps(line))
    assert next(pieces) == ReplyDelta("</")
    with pytest.raises(RequestRefused, match="out of memory"):
        next(pieces)


@pytest.mark.parametrize("line", ["hello", "7", "null", "[]", "[7]", "{", "<html>"])
def test_what_is_no_json_object_is_no_answer(line):
    with pytest.raises(NotAnAnswer):
        said(line)
