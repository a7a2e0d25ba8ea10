"""Messages for a protocol in which the user speaks first, and each message has several parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jitchat.providers.protocols.messages import Run, folded, merged, system_and_rest
from jitchat.turn import Message, Role

_OPENING = Message(Role.USER, "(the conversation so far)")
"""Ahead of a reply with which a window begins: the recent block may be cut between a message and
its reply. Leaving the reply out would send less than the window shows, and the same words each
time keep the prefix in the provider's cache."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A window as such a protocol takes it."""

    system: str
    """Empty where there is none, or where it is the first message's head."""
    runs: tuple[Run, ...]
    """At least one; the first is the user's."""


def opened(messages: Sequence[Message], *, folding: bool = False) -> Opened:
    """Part the system's text from the rest; `folding` puts it into the first message instead."""
    system, rest = system_and_rest(messages)
    if folding:
        system, rest = "", folded(system, rest)
    if not rest or rest[0].role is not Role.USER:
        rest = (_OPENING, *rest)
    return Opened(system, merged(rest))
