"""A window's messages in the order and the roles that every server takes.

Templates of local models refuse a second system message, one in the middle, and two messages of
one role in a row; some refuse the system's role altogether. Blank messages are refused, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from jitchat.turn import Message, Role

BETWEEN = "\n\n"
"""What stands between texts that become one."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one side says before the other does."""

    role: Role
    """The user's or the assistant's."""
    texts: tuple[str, ...]
    """A text for each message, at least one; none of them is blank."""

    @property
    def text(self) -> str:
        """All of it as one text."""
        return BETWEEN.join(self.texts)


def system_and_rest(messages: Iterable[Message]) -> tuple[str, tuple[Message, ...]]:
    """Part the system's text, empty where there is none, from what was said.

    What remains is the user's and the assistant's: a tool's message answers no call that the
    request contains, so it goes out as the user's. Blank messages are left out.
    """
    said = [message for message in messages if message.content.strip()]
    system = BETWEEN.join(m.content for m in said if m.role is Role.SYSTEM)
    return system, tuple(_of_two_sides(m) for m in said if m.role is not Role.SYSTEM)


def merged(messages: Iterable[Message]) -> tuple[Run, ...]:
    """Make one run of all messages in a row that are of one role."""
    return tuple(
        Run(role, tuple(message.content for message in run))
        for role, run in groupby(messages, key=lambda message: message.role)
    )


def folded(system: str, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Put the system's text at the head of the first message, which is made the user's."""
    if not system:
        return tuple(messages)
    if not messages or messages[0].role is not Role.USER:
        return Message(Role.USER, system), *messages
    first, *others = messages
    return replace(first, content=f"{system}{BETWEEN}{first.content}"), *others


def as_objects(
    messages: Iterable[Message], *, merging: bool = True, folding: bool = False
) -> list[dict[str, str]]:
    """Write them as chat completions do: one object with role and content for each.

    `merging` makes one of several in a row; `folding` sends no message of the system's role.
    """
    system, rest = system_and_rest(messages)
    if folding:
        system, rest = "", folded(system, rest)
    sides = merged(rest) if merging else tuple(Run(m.role, (m.content,)) for m in rest)
    spoken = [{"role": side.role.value, "content": side.text} for side in sides]
    return [{"role": "system", "content": system}, *spoken] if system else spoken


def _of_two_sides(message: Message) -> Message:
    return message if message.role is Role.ASSISTANT else replace(message, role=Role.USER)
