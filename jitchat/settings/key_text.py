"""What pasting does to keys: what can be put right is, and said; what cannot is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jitchat.errors import UsageError
from jitchat.settings.rules import Secret

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_ASSIGNED = re.compile(r"(?:export\s+|set\s+)?[A-Za-z_][A-Za-z0-9_]*\s*[=:]\s*(?=\S)")
_BEARER = re.compile(r"(?:authorization\s*:\s*)?bearer\s+", re.IGNORECASE)
_QUOTES = ('"', "'", "`", "“”", "‘’", "<>")
_MASKED = ("***", "•••", "xxxx")
_SHORTEST = 8
_OWNERS = {
    "sk-ant-": "anthropic",
    "sk-or-": "openrouter",
    "gsk_": "groq",
    "AIza": "gemini",
    "xai-": "xai",
    "sk-proj-": "openai",
}
"""How keys begin that say whose they are."""


@dataclass(frozen=True, slots=True)
class CleanedKey:
    """A key that may be stored."""

    key: Secret
    removed: tuple[str, ...] = ()
    """What was pasted along with it, in a few words each."""


def cleaned_key(text: str) -> CleanedKey:
    """Take off what is pasted along with keys.

    Raises:
        UsageError: What is left is no key.

    """
    removed: list[str] = []
    while found := _next_tidied(text):
        what, text = found
        removed += [what] if what not in removed else []
    if reason := _reason_against(text):
        raise UsageError(f"That is no key: {reason}. Nothing was stored.", "Copy it again, whole.")
    return CleanedKey(Secret(text), tuple(removed))


def foreign_owner(key: str, provider: str) -> str:
    """Say whose key it looks like, where that is somebody else than `provider`; else empty."""
    owner = next((name for start, name in _OWNERS.items() if key.startswith(start)), "")
    return "" if owner == provider else owner


def _next_tidied(text: str) -> tuple[str, str] | None:
    """Take one thing off, as (what it was, what is left); None where nothing is to be."""
    ways = (
        ("invisible characters", text.translate(dict.fromkeys(map(ord, _INVISIBLE)))),
        ("white space around it", text.strip()),
        ("quotation marks", _unquoted(text)),
        ("the word Bearer", _without(_BEARER, text)),
        ("the variable's name", _without(_ASSIGNED, text) if _assigns(text) else text),
    )
    return next(((what, left) for what, left in ways if left != text), None)


def _without(start: re.Pattern[str], text: str) -> str:
    found = start.match(text)
    return text[found.end() :] if found else text


def _unquoted(text: str) -> str:
    if len(text) < 3:
        return text
    around = any(text[0] == pair[0] and text[-1] == pair[-1] for pair in _QUOTES)
    return text[1:-1] if around else text


def _assigns(text: str) -> bool:
    """Whether it begins with a name and `=`; the `=` at the end of base64 is no such thing."""
    return _ASSIGNED.match(text) is not None and not _BEARER.match(text)


def _reason_against(text: str) -> str:
    """Say why it is no key, as a clause; empty where it may be one."""
    reasons = (
        (not text, "it is empty"),
        ("…" in text or "..." in text, "it holds an ellipsis, so only a part of it was copied"),
        (any(mask in text for mask in _MASKED) or "●" in text, "it is masked, not written out"),
        (len(text.splitlines()) > 1, "there is a line break in it"),
        (any(each.isspace() for each in text), "there is a blank in it"),
        (not text.isascii(), "it holds characters that no key has"),
        (not text.isprintable(), "it holds control characters"),
        (len(text) < _SHORTEST, f"it has fewer than {_SHORTEST} characters"),
    )
    return next((why for holds, why in reasons if holds), "")
