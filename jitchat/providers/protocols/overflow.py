"""Whether an error says that the window is larger than the model's context, and by how much.

No two servers say it alike; the texts were collected from each of them.
"""

from __future__ import annotations

import re

from jitchat.errors import ContextOverflow
from jitchat.providers.protocols.said import codes, message_of, searchable, told, value_of
from jitchat.providers.protocols.values import at, count, first

REMEDY = "Lower provider.limit, or switch the mode."
_N = r"(?<!\d)(\d{1,3}(?:[,._'\u00a0\u202f]\d{3}){1,4}(?!\d)|\d{1,15}(?!\d))"
"""A number, perhaps with separators; not one that is longer than any count of tokens."""
_OVERFLOWS = re.compile(
    "|".join(
        (
            r"context_length_exceeded",
            r"maximum (?:context|model) length",
            r"exceeds? (?:the|this)(?: model'?s)?(?: available)? context (?:size|window|length)",
            r"greater than the context length",
            r"longer than the (?:model'?s )?context length",
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
            rf"request too large .*limit {_N}, requested {_N}",
        )
    ),
    re.IGNORECASE,
)
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"maximum (?:context|model|input) length (?:is|of) (?:only )?{_N}",
        rf"context length is only {_N}",
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
        rf"{_N} \+ {_N} >",
        rf"{_N} tokens >",
        rf"too large: {_N}\..* your request has {_N} input tokens",
        rf"passed {_N} input tokens and requested {_N}",
        rf"(?:request|input) \({_N} tokens\)",
        rf"input token count \(?(?:is )?{_N}",
        rf"current length is {_N}",
        rf"a total of (?:at least )?{_N}",
        rf"requested (?:about )?{_N} tokens",
        rf"resulted in {_N}",
        rf"contains (?:at least )?{_N}",
        rf"requested {_N}",
        rf"length {_N}\) is longer",
    )
)
"""Each holds one number, or several that add up."""


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
    return ContextOverflow(
        told("The window is larger than the model takes", said),
        REMEDY,
        needed or _number(_NEEDED, text),
        limit or _number(_LIMITS, text),
    )


def _number(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    """Read what the first of the patterns that fits says; None where none does, or it is 0."""
    for pattern in patterns:
        if match := pattern.search(text):
            return sum(int(re.sub(r"\D", "", number)) for number in match.groups()) or None
    return None
