"""Reasoning that a server requires back with the calls of an answer, as pieces.

An echo is JSON in the protocol's own format, sent back as it was received. Its texts that a model
reads are counted like any other; signatures and encrypted reasoning are opaque.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from jitchat.text.json_values import at, parsed, text_at
from jitchat.values import Echo, ToolCall, ToolUse
from jitchat.writing.calls import arguments_text, given_id
from jitchat.writing.pieces import Part, Piece, Unwritten, WritingRules

_BLANK = {"reasoning_content": " "}
"""DeepSeek and Moonshot refuse answers without reasoning once a turn has called tools, even another
model's; and an empty string counts as none."""


def with_echo(use: ToolUse, rules: WritingRules) -> ToolUse:
    """Keep the reasoning that this model sent with these calls; add a blank one if required."""
    echo = use.echo
    is_own = echo is not None and echo.origin == rules.origin and bool(use.calls)
    value = parsed(echo.value) if echo is not None and is_own else None
    if isinstance(value, list) and _calls_in(value, use.calls) is None:
        value = None
    if rules.refused and isinstance(value, dict):
        value = {name: inner for name, inner in value.items() if name not in rules.refused}
    if rules.blank_reasoning and not isinstance(value, list):
        value = {**_BLANK, **(value if isinstance(value, dict) else {})}
    if not value:
        return replace(use, echo=None) if echo is not None else use
    if echo is not None and parsed(echo.value) == value:
        return use
    known = echo if echo is not None and is_own else Echo(rules.origin, "")
    return replace(use, echo=replace(known, value=json.dumps(value, ensure_ascii=False)))


def _calls_in(parts: Sequence[object], calls: Sequence[ToolCall]) -> list[ToolCall] | None:
    """Return the calls in the order of an answer's parts; None if those are not its calls."""
    called = [part for part in parts if _is_call(part)]
    if len(called) != len(calls):
        return None
    by_id = {call.id: call for call in calls}
    ordered: list[ToolCall] = []
    for part, call in zip(called, calls, strict=True):
        # Gemini sends calls without ids, in their order; the other protocols refer to them by id
        inner = at(part, "functionCall")
        known = by_id.get(text_at(part, "call_id") or text_at(part, "id"))
        if inner and text_at(inner, "name") == call.name:
            known = call if text_at(inner, "id") == (given_id(call.id) or "") else None
        if known is None or known in ordered:
            return None
        ordered.append(known)
    return ordered


def _is_call(part: object) -> bool:
    return text_at(part, "type") in ("tool_use", "function_call") or bool(at(part, "functionCall"))


_WORDS = frozenset({"thinking", "summary", "reasoning", "reasoning_content"})
_FRAME = frozenset({"type", "id", "call_id", "name", "status", "role", "format", "phase"})
"""Fields of an echo that hold no text for the model."""
_CALLED = frozenset({"input", "arguments", "functionCall"})
"""Fields with the arguments of a call, which are pieces of their own."""


def answer_pieces(texts: Sequence[Piece], message: Unwritten, use: ToolUse) -> list[Piece]:
    """Return reasoning, text and calls of an answer, in the order in which they are sent."""
    head = replace(message, pieces=message.pieces[-1:]).head  # joined texts come before the calls

    def of_echo(value: object, *, is_answer: bool) -> list[Piece]:
        echoed = _echoed(value, is_answer=is_answer)
        return [replace(head, text=text, part=part) for part, text in echoed]

    def of_call(call: ToolCall) -> list[Piece]:
        name = replace(head, text=call.name, part=Part.NAME)
        return [name, replace(head, text=arguments_text(call), part=Part.ARGUMENTS)]

    value = parsed(use.echo.value) if use.echo is not None else None
    if not isinstance(value, list):
        calls = chain.from_iterable(of_call(call) for call in use.calls)
        return [*of_echo(value, is_answer=False), *texts, *calls]
    pieces: list[Piece] = []
    waiting = iter(_calls_in(value, use.calls) or ())
    for item in value:
        pieces += of_echo(item, is_answer=True)
        if _is_call(item):
            pieces += of_call(next(waiting))
    return pieces


def _echoed(value: object, *, is_answer: bool) -> Iterator[tuple[Part, str]]:
    """Yield the texts in a part of an echo; of a call, only what is sent in addition to it.

    `is_answer` says whether a `text` is the answer's, not its reasoning.
    """
    if isinstance(value, list):
        for item in value:
            yield from _echoed(item, is_answer=is_answer)
    if not isinstance(value, dict):
        return
    kind = str(value.get("type") or "")
    is_answer = is_answer and not kind.startswith("reasoning") and value.get("thought") is not True
    for name, inner in value.items():
        if name in _FRAME or (_is_call(value) and name in _CALLED):
            continue
        if not isinstance(inner, str):
            yield from _echoed(inner, is_answer=is_answer and name not in _WORDS)
        elif inner:
            is_words = name in _WORDS or name in ("text", "content", "refusal")
            readable = Part.TEXT if is_answer and name not in _WORDS else Part.REASONING
            yield readable if is_words else Part.OPAQUE, inner
