"""Whether an error says that the window is larger than the model's context, and by how much.

No two servers say it alike; the texts were collected from each of them.
"""

from __future__ import annotations

import re

from jitchat.errors import ContextOverflow
from jitchat.providers.protocols.said import codes, message_of, searchable, told, value_of
from jitchat.providers.protocols.values import at, count, first

REMEDY = "Lower provider.limit, or switch the mode."
_SHORTER = "Lower max_tokens, or switch the mode."
"""Where the answer has a part in it."""
_N = r"(?<!\d)(\d{1,3}(?:[,._'\u00a0\u202f]\d{3}){1,4}(?!\d)|\d{1,15}(?!\d))"
"""A number, perhaps with separators; not one that is longer than any count of tokens."""
_OVERFLOWS = re.compile(
    "|".join(
        (
            r"context_length_exceeded",
            r"ContextWindowExceededError",
            r"maximum (?:context|model|prompt) length",
            r"exceeds? (?:the|this)(?: model'?s)?(?: available)? context (?:size|window|length)",
            r"greater than the context length",
            r"longer than the (?:model'?s )?context length",
            r"loaded with context length of only \d",
            r"context size has been exceeded",
            r"exceeded model token limit",
            r"`max_new_tokens` must be <= \d",
            r"range of input length should be",
            r"exceeds? the model'?s (?:maximum )?context",
            r"prompt is too long",
            r"exceed context limit",
            r"exceeds the maximum number of tokens allowed",
            r"input token count is \d+ but model only supports",
            r"current length is \d[\d,]* while limit is",
            r"input tokens exceed the configured limit",
            r"maximum input length (?:is|of)\b",
            r"input is too long",
            r"input length exceeds",
            rf"request too large .{{0,200}}limit {_N}, requested {_N}",
        )
    ),
    re.IGNORECASE,
)
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"context length (?:is|of) only {_N}",
        rf"maximum (?:context|model|input|prompt) length (?:is|of) (?:only )?{_N}",
        rf"model with {_N} maximum context",
        rf"model token limit: {_N}",
        rf"must be <= {_N}",
        rf"input length should be \[\d+, ?{_N}\]",
        rf"context (?:size|window|length) \({_N}",
        rf"> {_N}",
        rf"tokens allowed \({_N}\)",
        rf"only supports (?:up to )?{_N}",
        rf"while limit is {_N}",
        rf"configured limit of {_N}",
        rf"limit {_N}, requested",
    )
)
_NEEDED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_N} tokens >",
        rf"(?:request|input) \({_N} tokens\)",
        rf"input token count \(?(?:is )?{_N}",
        rf"current length is {_N}",
        rf"a total of (?:at least )?{_N}",
        rf"requested (?:about )?{_N} tokens",
        rf"resulted in {_N}",
        rf"contains (?:at least )?{_N}",
        rf"keep the first {_N}",
        rf"requested:? {_N}",
        rf"length {_N}\) is longer",
    )
)
_BOTH = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<window>{_N}) \+ (?P<answer>{_N}) >",
        rf"too large: (?P<answer>{_N})\..{{0,200}} your request has (?P<window>{_N}) input tokens",
        rf"passed (?P<window>{_N}) input tokens and requested (?P<answer>{_N})",
        rf"requested (?P<answer>{_N}) output tokens and .{{0,200}}?"
        rf" (?:at least )?(?P<window>{_N}) input",
        rf"\((?P<window>{_N}) (?:in the messages|of text input), .{{0,200}}?"
        rf"(?P<answer>{_N}) in the",
        rf"(?P<window>{_N}) `inputs` tokens and (?P<answer>{_N}) `max_new_tokens`",
    )
)
"""What the window takes, and what the answer was to have."""


def overflow_in(status: int | None, body: object) -> ContextOverflow | None:
    """Read an error's body, parsed or not, or its mere text; None where it is another error.

    `status` is the response's, None for an error within a stream.
    """
    value = value_of(body)
    text = searchable(value)
    named = codes(value)
    if "string_above_max_length" in named or "string_above_max_length" in text:
        return None
    known = {"context_length_exceeded", "exceed_context_size_error", "request_too_large"} & named
    if not known and status != 413 and not _OVERFLOWS.search(text):
        return None
    error = at(first(value), "error")
    needed, limit = count(at(error, "n_prompt_tokens")), count(at(error, "n_ctx"))
    said = "" if text.lstrip().startswith("<") else message_of(value)
    both = next((match for pattern in _BOTH if (match := pattern.search(text))), None)
    answer = _read(both["answer"]) if both else None
    return ContextOverflow(
        told("The window is larger than the model takes", said),
        _SHORTER if answer else REMEDY,
        needed or (_read(both["window"]) if both else _number(_NEEDED, text)),
        limit or _number(_LIMITS, text),
        answer,
    )


def _number(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    """Read what the first of the patterns that fits says; None where none does, or it is 0."""
    for pattern in patterns:
        if match := pattern.search(text):
            return _read(match[match.lastindex or 0])
    return None


def _read(number: str) -> int | None:
    return int(re.sub(r"\D", "", number)) or None
