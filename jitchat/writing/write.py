"""Writing a request: the one function that turns planned messages into pieces. Pure.

Templates of local models refuse a second system message, one in the middle, and two consecutive
messages of one role; some refuse the system role. Blank messages are refused too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from jitchat.values import Message, Role
from jitchat.writing.calls import with_ids, with_quotes, with_results
from jitchat.writing.echoes import answer_pieces, with_echo
from jitchat.writing.pieces import (
    BETWEEN,
    PLAIN,
    Part,
    Piece,
    Unwritten,
    WritingRules,
    constant,
    messages_of,
    unwritten,
)

_OPENING = "(the conversation so far)"
"""Sent before a reply at the start of a window: the recent block may be cut between a message and
its reply. Omitting the reply would send less than the window shows, and a constant text keeps the
prefix in the provider's cache."""
_STOPPED = "(The reply was stopped here.)"
"""Sent after results that the model never answered: Mistral and templates of local models refuse
a user message right after results."""
_ERROR = "Error: "


def write(messages: Iterable[Unwritten], rules: WritingRules = PLAIN) -> tuple[Piece, ...]:
    """Write the messages of a request, omitting blank ones."""
    answered = with_results(messages)
    quoted = with_quotes(with_ids(answered), rules)
    kept = [message for message in quoted if not message.is_blank]
    system = [message for message in kept if message.role is Role.SYSTEM]
    rest = [_with_role(message) for message in kept if message.role is not Role.SYSTEM]
    if rules.folds_system and system:
        rest = _folded(system, rest)
        system = []
    if rules.user_first and (not rest or rest[0].role is not Role.USER):
        rest.insert(0, constant(Role.USER, _OPENING, rest[0] if rest else None))
    if rules.alternates:
        rest = list(_with_replies(rest))
    if rules.joins:
        rest = list(_joined(rest))
    whole = [*_joined(system), *rest]
    numbered = (pieces_of(message, number, rules) for number, message in enumerate(whole, 1))
    return tuple(piece for pieces in numbered for piece in pieces)


def write_messages(messages: Iterable[Message], rules: WritingRules) -> tuple[Message, ...]:
    """Write messages that belong to no window."""
    return messages_of(write(map(unwritten, messages), rules))


def _with_role(message: Unwritten) -> Unwritten:
    """Send what a tool said as the user's, if it is the result of no call."""
    is_sendable = message.role is not Role.TOOL or message.use.answers
    return message if is_sendable else replace(message, role=Role.USER)


def _folded(system: Sequence[Unwritten], rest: list[Unwritten]) -> list[Unwritten]:
    """Put the system text before the first user message, or in a user message of its own."""
    head = replace(next(_joined(system)), role=Role.USER)
    if not rest or rest[0].role is not Role.USER:
        return [head, *rest]
    return [_join(head, rest[0]), *rest[1:]]


def _with_replies(messages: Iterable[Unwritten]) -> Iterator[Unwritten]:
    """Insert a reply after results that are directly followed by a user message."""
    is_result = False
    for message in messages:
        if is_result and message.role is Role.USER:
            yield constant(Role.ASSISTANT, _STOPPED, message)
        is_result = bool(message.use.answers)
        yield message


def _joined(messages: Iterable[Unwritten]) -> Iterator[Unwritten]:
    """Join consecutive messages of one role; calls end a message, and results are separate."""
    last: Unwritten | None = None
    for message in messages:
        is_same = last is not None and last.role is message.role
        if last is not None and is_same and last.is_plain and not message.use.answers:
            last = _join(last, message)
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def _join(first: Unwritten, second: Unwritten) -> Unwritten:
    has_text = bool(second.text.strip())
    pieces = second.with_text(BETWEEN).pieces if has_text else (second.head,)
    return replace(second, pieces=(*first.pieces, *pieces))


def pieces_of(message: Unwritten, number: int, rules: WritingRules) -> list[Piece]:
    """Return the pieces of one message."""
    use = message.use
    texts = message.pieces if message.text.strip() else ()
    if use.answers is not None:
        pieces = _result_pieces(message, rules)
    elif message.role is Role.ASSISTANT:
        use = with_echo(use, rules)
        pieces = answer_pieces(texts, message, use)
    else:
        pieces = list(message.pieces)
    return [
        replace(piece, message=number, place=place, role=message.role, use=use)
        for place, piece in enumerate(pieces)
    ]


def _result_pieces(message: Unwritten, rules: WritingRules) -> list[Piece]:
    call, text = message.use.answers, message.text
    is_marked = rules.marks_errors and message.use.is_error and not text.startswith(_ERROR)
    written = message if text.strip() else replace(message, pieces=(message.head,))
    pieces = list((written.with_text(_ERROR) if is_marked else written).pieces)
    if call is not None and rules.names_results and call.name:
        name = message.with_text(call.name).pieces[0]
        pieces.insert(0, replace(name, part=Part.NAME))
    return pieces
