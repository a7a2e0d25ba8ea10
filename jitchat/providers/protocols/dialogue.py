"""A window's messages in an order and with roles that every server accepts.

Templates of local models refuse a second system message, one in the middle, and two consecutive
messages of one role; some refuse the system role altogether. Blank messages are refused too.

Each answer's calls are followed by one result per call, in the order of the calls; every protocol
refuses anything else. If no tools are offered, calls and results are sent as text, because several
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
"""Separator of texts that are joined."""
_OPENING = Message(Role.USER, "(the conversation so far)")
"""Sent before a reply at the start of a window: the recent block may be cut between a message and
its reply. Omitting the reply would send less than the window shows, and a constant text keeps the
prefix in the provider's cache."""
_STOPPED = Message(Role.ASSISTANT, "(The reply was stopped here.)")
"""Sent after results that the model never answered: Mistral and templates of local models refuse
a user message right after results."""
_SHOWN_ARGUMENTS = 200
"""Maximum characters of a call's arguments if it is sent as text."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive messages of one role."""

    role: Role
    """User or assistant."""
    texts: tuple[str, ...]
    """The texts of the messages, at least one, none of them blank."""
    pictures: tuple[Picture, ...] = ()
    """The pictures of all the messages; they are sent before the texts."""

    @property
    def text(self) -> str:
        return BETWEEN.join(self.texts)


@dataclass(frozen=True, slots=True)
class CallStep:
    """An assistant's answer that calls tools."""

    text: str
    """May be empty."""
    calls: tuple[ToolCall, ...]
    """At least one; each has its result in the `ResultStep` that follows."""
    echo: object = None
    """What the protocol requires back, as it was received; None for nothing. A list of the answer's
    parts is not sent if its calls differ from `calls`: a call without its result would be
    refused."""


@dataclass(frozen=True, slots=True)
class ResultStep:
    """The results of one answer's calls."""

    results: tuple[ToolResult, ...]
    """In the order of the calls."""


Step = CallStep | ResultStep
Item = dict[str, object]
"""A message as a JSON object."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A window's messages, with the system text separate."""

    system: str
    """Empty if there is none, or if it was put at the start of the first message."""
    runs: tuple[Run | Step, ...]

    def as_objects(
        self,
        step_items: Callable[[Step], Iterable[Item]] = lambda _: (),
        picture_fields: Callable[[Run], Item] = lambda _: {},
        *,
        merging: bool = False,
    ) -> list[Item]:
        """Return the messages as JSON objects.

        `step_items` makes the messages of calls and results, `picture_fields` the fields of a run
        with pictures. `merging` joins an assistant message with the one with calls after it.
        """
        items: list[Item] = [{"role": "system", "content": self.system}] if self.system else []
        for run in self.runs:
            if isinstance(run, Run):
                fields = picture_fields(run) if run.pictures else {}
                items.append({"role": run.role.value, "content": run.text, **fields})
            else:
                items.extend(step_items(run))
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
    """Separate the system text from the messages, and omit blank messages.

    A tool message that answers no call is sent as a user message.

    Args:
        messages: The window's messages.
        folding: Put the system text at the start of the first user message.
        merging: Make one run of consecutive messages of one role.
        user_first: Put a user message before a reply at the start of the window.
        origin: The model that is offered tools; only its own echoes are sent. Empty if no tools
            are offered.

    """
    matched = tuple(_sendable(paired(messages).messages))
    kept = [each for each in (matched if origin else _as_text(matched)) if _has_content(each)]
    system = BETWEEN.join(m.content for m in kept if m.role is Role.SYSTEM)
    rest = [
        message if message.role is Role.ASSISTANT or message.use.answers else _as_user(message)
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
    rows = groupby(rest, key=lambda message: _group_of(message, merging=merging))
    return Dialogue(system, tuple(_run(list(row), origin) for _, row in rows))


def _with_ends(messages: Iterable[Message]) -> Iterator[Message]:
    """Insert a reply after results that are directly followed by a user message."""
    is_result = False
    for message in messages:
        if is_result and message.role is Role.USER:
            yield _STOPPED
        is_result = bool(message.use.answers)
        yield message


def _sendable(messages: Iterable[Message]) -> Iterator[Message]:
    """Give calls and their results ids and names that every server accepts."""
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
    """Replace the calls of an answer; drop an echo that contains the previous ones."""
    if tuple(calls) == use.calls:
        return use
    echo = use.echo
    holds_calls = echo is not None and isinstance(parsed(echo.value), list)
    return replace(use, calls=tuple(calls), echo=None if holds_calls else echo)


def _as_user(message: Message) -> Message:
    return replace(message, role=Role.USER)


def _has_content(message: Message) -> bool:
    return bool(message.content.strip() or message.use.calls or message.use.answers)


def _group_of(message: Message, *, merging: bool) -> object:
    """Return a grouping key: consecutive messages with equal keys become one run."""
    if message.use.calls or not (merging or message.use.answers):
        return id(message)
    return message.role


def _run(row: list[Message], origin: str) -> Run | Step:
    head = row[0]
    if head.use.calls:
        echo = head.use.echo
        value = parsed(echo.value) if echo is not None and echo.origin == origin else None
        text = head.content if head.content.strip() else ""
        return CallStep(text, head.use.calls, value)
    if head.use.answers:
        return ResultStep(tuple(_results(row)))
    pictures = tuple(picture for message in row for picture in message.pictures)
    return Run(head.role, tuple(message.content for message in row), pictures)


def _results(messages: Iterable[Message]) -> Iterator[ToolResult]:
    for message in messages:
        if message.use.answers:
            yield ToolResult(message.use.answers, message.content, message.use.is_error)


def _as_text(messages: Iterable[Message]) -> Iterator[Message]:
    """Convert calls and results to text: each result becomes a user message with its call."""
    calls: list[ToolCall] = []
    for message in messages:
        if message.use.calls:
            calls = list(message.use.calls)
            yield replace(message, use=NO_TOOL_USE)
        elif message.use.answers and calls:
            yield Message(Role.USER, _result_as_text(calls.pop(0), message), message.turn)
        else:
            yield message


def _result_as_text(call: ToolCall, result: Message) -> str:
    arguments = shorten(call.arguments, _SHOWN_ARGUMENTS)
    what = "failed" if result.use.is_error else "returned"
    return f"[{' '.join(filter(None, (call.name, arguments)))} {what}]\n{result.content}"


def encoded(picture: Picture) -> str:
    """Return the bytes of a picture in base64."""
    return b64encode(picture.data).decode()


def data_url(picture: Picture) -> str:
    return f"data:{picture.media_type};base64,{encoded(picture)}"
