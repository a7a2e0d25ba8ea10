"""A window's messages in the order and the roles that every server takes.

Templates of local models refuse a second system message, one in the middle, and two messages of
one role in a row; some refuse the system's role altogether. Blank messages are refused, too.

Calls and results stand beside each other, one result for each call, in the order of the calls:
every protocol refuses anything else. Where no tools are offered they go out as text, for several
servers refuse calls in a request without tools.
"""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from jitchat.attachments import Picture
from jitchat.providers.protocols.calls import UniqueCalls
from jitchat.providers.protocols.json_values import parsed
from jitchat.providers.tools import paired
from jitchat.text.sanitize import shorten
from jitchat.values import NO_TOOL_USE, Message, Role, ToolCall, ToolResult, ToolUse

BETWEEN = "\n\n"
"""What stands between texts that become one."""
_OPENING = Message(Role.USER, "(the conversation so far)")
"""Ahead of a reply with which a window begins: the recent block may be cut between a message and
its reply. Leaving the reply out would send less than the window shows, and the same words each
time keep the prefix in the provider's cache."""
_STOPPED = Message(Role.ASSISTANT, "(The reply was stopped here.)")
"""Behind results that the model never answered: Mistral, and templates of local models, refuse a
message of the user's that follows them."""
_SHOWN_ARGUMENTS = 200
"""Characters of a call's arguments where it goes out as text."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one side says before the other does."""

    role: Role
    """The user's or the assistant's."""
    texts: tuple[str, ...]
    """A text for each message, at least one; none of them is blank."""
    pictures: tuple[Picture, ...] = ()
    """Of all of its messages, to stand ahead of the texts."""

    @property
    def text(self) -> str:
        return BETWEEN.join(self.texts)


@dataclass(frozen=True, slots=True)
class Called:
    """An answer of the assistant's that calls tools."""

    text: str
    """Empty for none."""
    calls: tuple[ToolCall, ...]
    """At least one; each has its result in the `Returned` that follows."""
    echo: object = None
    """What the protocol wants handed back, as it was received; None for nothing. A list of what
    the answer was made of that does not hold the very calls is not sent: a call without its result
    would be refused."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The results of one answer's calls."""

    results: tuple[ToolResult, ...]
    """In the order of the calls."""


Step = Called | Returned
Item = dict[str, object]
"""A message as JSON knows it."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A window's messages, the system's text apart."""

    system: str
    """Empty where there is none, or where it is the first message's head."""
    runs: tuple[Run | Step, ...]

    def as_objects(
        self,
        written: Callable[[Step], Iterable[Item]] = lambda _: (),
        pictured: Callable[[Run], Item] = lambda _: {},
        *,
        merging: bool = False,
    ) -> list[Item]:
        """Make a message of each run; `written` makes those of calls and results.

        `pictured` makes the fields of a run that has pictures. `merging` puts a message of the
        assistant's and the one behind it, which calls, in one.
        """
        items: list[Item] = [{"role": "system", "content": self.system}] if self.system else []
        for run in self.runs:
            if isinstance(run, Run):
                seen = pictured(run) if run.pictures else {}
                items.append({"role": run.role.value, "content": run.text, **seen})
            else:
                items.extend(written(run))
        return list(_merged(items)) if merging else items


def _merged(items: Iterable[Item]) -> Iterator[Item]:
    last: Item = {}
    for item in items:
        if last.get("role") == item.get("role") == "assistant":
            last = {**item, "content": BETWEEN.join(_texts(last, item))}
            continue
        if last:
            yield last
        last = item
    if last:
        yield last


def _texts(*items: Item) -> Iterator[str]:
    contents = (item["content"] for item in items)
    return (content for content in contents if isinstance(content, str) and content)


def dialogue(
    messages: Iterable[Message],
    *,
    folding: bool = False,
    merging: bool = True,
    user_first: bool = False,
    origin: str = "",
) -> Dialogue:
    """Part the system's text from what was said, and leave out what is blank.

    A tool's message that answers no call goes out as the user's. `folding` puts the system's text
    at the head of the first message, which is made the user's; `merging` makes one run of
    messages in a row; `user_first` puts a message of the user's ahead of a reply with which the
    window begins. `origin` names who is offered tools: it gets its own echoes only; empty where
    none are offered.
    """
    matched = tuple(_sendable(paired(messages).messages))
    kept = [each for each in (matched if origin else _as_text(matched)) if _says_anything(each)]
    system = BETWEEN.join(m.content for m in kept if m.role is Role.SYSTEM)
    rest = [
        message if message.role is Role.ASSISTANT or message.use.answers else _by_user(message)
        for message in kept
        if message.role is not Role.SYSTEM
    ]
    if folding and system:
        if rest and rest[0].role is Role.USER:
            rest[0] = replace(rest[0], content=f"{system}{BETWEEN}{rest[0].content}")
        else:
            rest.insert(0, Message(Role.USER, system))
        system = ""
    if user_first and (not rest or rest[0].role is not Role.USER):
        rest.insert(0, _OPENING)
    rest = list(_with_ends(rest))
    rows = groupby(rest, key=lambda message: _row_of(message, merging=merging))
    return Dialogue(system, tuple(_run(list(row), origin) for _, row in rows))


def _with_ends(messages: Iterable[Message]) -> Iterator[Message]:
    """Close a turn that was stopped behind its results, ahead of what the user says next."""
    is_result = False
    for message in messages:
        if is_result and message.role is Role.USER:
            yield _STOPPED
        is_result = bool(message.use.answers)
        yield message


def _sendable(messages: Iterable[Message]) -> Iterator[Message]:
    """Write calls, and the results that follow them, with ids and names that servers take."""
    unique, waiting = UniqueCalls(), list[ToolCall]()
    for message in messages:
        use = message.use
        if use.calls:
            waiting = [unique.written(call) for call in use.calls]
            yield replace(message, use=_renamed(use, waiting))
        elif use.answers and waiting:
            yield replace(message, use=replace(use, answers=waiting.pop(0)))
        else:
            yield message


def _renamed(use: ToolUse, calls: Sequence[ToolCall]) -> ToolUse:
    """Put other calls in place of an answer's; an echo that holds the calls has the former ones."""
    if tuple(calls) == use.calls:
        return use
    echo = use.echo
    holds_calls = echo is not None and isinstance(parsed(echo.value), list)
    return replace(use, calls=tuple(calls), echo=None if holds_calls else echo)


def _by_user(message: Message) -> Message:
    return replace(message, role=Role.USER)


def _says_anything(message: Message) -> bool:
    return bool(message.content.strip() or message.use.calls or message.use.answers)


def _row_of(message: Message, *, merging: bool) -> object:
    """Tell which messages in a row become one run: those with the same answer."""
    if message.use.calls or not (merging or message.use.answers):
        return id(message)
    return message.role


def _run(row: list[Message], origin: str) -> Run | Step:
    head = row[0]
    if head.use.calls:
        echo = head.use.echo
        value = parsed(echo.value) if echo is not None and echo.origin == origin else None
        text = head.content if head.content.strip() else ""
        return Called(text, head.use.calls, value)
    if head.use.answers:
        return Returned(tuple(_results(row)))
    pictures = tuple(picture for message in row for picture in message.pictures)
    return Run(head.role, tuple(message.content for message in row), pictures)


def _results(messages: Iterable[Message]) -> Iterator[ToolResult]:
    for message in messages:
        if message.use.answers:
            yield ToolResult(message.use.answers, message.content, message.use.is_error)


def _as_text(messages: Iterable[Message]) -> Iterator[Message]:
    """Write calls and results as text: the result as the user's, behind what was called."""
    calls: list[ToolCall] = []
    for message in messages:
        if message.use.calls:
            calls = list(message.use.calls)
            yield replace(message, use=NO_TOOL_USE)
        elif message.use.answers and calls:
            yield Message(Role.USER, _told(calls.pop(0), message), message.turn)
        else:
            yield message


def _told(call: ToolCall, result: Message) -> str:
    arguments = shorten(call.arguments, _SHOWN_ARGUMENTS)
    what = "failed" if result.use.is_error else "returned"
    return f"[{' '.join(filter(None, (call.name, arguments)))} {what}]\n{result.content}"


def encoded(picture: Picture) -> str:
    """Write the bytes of a picture in base64."""
    return b64encode(picture.data).decode()


def data_url(picture: Picture) -> str:
    return f"data:{picture.media_type};base64,{encoded(picture)}"
