"""What an import format reads from a file: conversations, whose turns are read lazily."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from jitchat.errors import UsageError
from jitchat.store.imported import (
    Heading,
    ImportWriter,
    IncomingFile,
    IncomingTurn,
    Origin,
    Twin,
)
from jitchat.store.reply_notes import ReplyNote
from jitchat.store.store import LONGEST_TITLE, SAFE_NAME, ColdStore, project_name, tag_name
from jitchat.text.sanitize import one_line, repair, shorten
from jitchat.tool_fields import use_fields
from jitchat.transfer.census import Census, Place, Texts, plain, rules_of, strings_of
from jitchat.transfer.fields import as_json, sequence, text
from jitchat.transfer.json_text import decoded
from jitchat.values import DEFAULT_PROJECT, Role, Status, ToolCall, ToolUse, Turn

LONGEST_NAME = 80
NOT_KEPT = "attachment that was kept by name only"
INSTRUCTIONS = "message with instructions"
NO_ROLE = "message without a known role"
_LONGEST_MADE_TITLE = 120
_LONGEST_KEY = 400
_WINDOW = 512
"""Turns of a long file after which what was read of it is compared and let go."""


@dataclass(slots=True)
class Tally:
    """Counts of what was left out of a conversation or a file, and of what was changed.

    Each reason is a noun with a clause, as `plural` expects: `line that is not JSON`. It is given
    together with the values of the source that it is about, as they were read.
    """

    skipped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    texts: set[str] = field(default_factory=set)
    """The texts that were left out or changed, in the form in which texts are compared."""
    values: list[object] = field(default_factory=list)
    """What was read of the conversation and is not in its census yet."""

    def read(self, value: object) -> None:
        """Note a value of the source, before its turns: all texts in it must be accounted for."""
        self.values.append(value)

    def skip(self, reason: str, *values: object) -> None:
        self.skipped[reason] += 1
        self.account_for(*values)

    def change(self, reason: str, *values: object) -> None:
        self.changed[reason] += 1
        self.account_for(*values)

    def account_for(self, *values: object) -> None:
        """Note what was left out, or is stored in another form."""
        self.texts.update(plain(said) for said in strings_of(*values))

    def add(self, other: "Tally") -> None:
        self.skipped.update(other.skipped)
        self.changed.update(other.changed)


@dataclass(slots=True)
class IncomingConversation:
    """One conversation. Only origin and id are final before `turns` is exhausted."""

    origin: Origin
    id: str
    """The preferred id; another one is used if it is taken."""
    title: str
    turns: Iterable[IncomingTurn]
    tally: Tally
    head: int | None = None
    """The position of the last turn of the branch that was shown; None for the last turn."""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    twin: Twin | None = None
    """The conversation that it may have been exported from; None if it is another program's."""
    is_title_given: bool = True
    is_archived: bool = False
    tags: tuple[str, ...] = ()
    restore: Callable[[ColdStore, ImportWriter], None] | None = None
    """Stores everything except the turns: windows, pins and so on."""
    project: str = ""
    """Its project in jitchat; empty for the default one."""
    instructions: list[str] = field(default_factory=list)
    """Its system prompts; the first one is kept, and the others are counted."""
    census: Census = field(init=False)
    _first_words: str = ""
    """The user's first message: the title if the source has none."""
    _span: tuple[datetime, datetime] | None = None
    """The times of the earliest and the latest turn, used if the source has no times."""

    def __post_init__(self) -> None:
        self.id = one_line(repair(self.id))[:LONGEST_NAME]
        source, key = repair(self.origin.source), repair(self.origin.key)
        self.origin = Origin(source[:LONGEST_NAME], key[:_LONGEST_KEY])
        self.census = Census(rules_of(source))

    def system_prompt(self) -> str:
        """Return the first of the instructions, and count the others; empty if there are none."""
        prompts = dict.fromkeys(said.strip() for said in self.instructions if said.strip())
        first, *others = prompts or [""]
        for other in others:
            self.tally.skip(INSTRUCTIONS, other)
        return first

    def heading(self) -> Heading:
        title = shorten(self.title, LONGEST_TITLE)
        is_made = not title
        title = title or shorten(self._first_words, _LONGEST_MADE_TITLE) or self.id
        if len(self.title) > LONGEST_TITLE:
            self.tally.change("title that was shortened", self.title)
        project = DEFAULT_PROJECT
        with suppress(UsageError):
            project = project_name(self.project.translate(SAFE_NAME))
        details = self.is_title_given, is_made, self.is_archived, self.tags, project
        first, last = self._span or (None, None)
        created, updated = self.created_at or first, self.updated_at or last
        return Heading(title, self.head, created, updated, *details)

    def read(self) -> Iterator[IncomingTurn]:
        """Yield the turns, once; note the title and the times that the source may lack."""
        window = list[IncomingTurn]()
        for incoming in self.turns:
            turn = incoming.turn
            if not self._first_words and turn.role is Role.USER:
                self._first_words = turn.content
            if turn.created_at is not None:
                first, last = self._span or (turn.created_at, turn.created_at)
                self._span = min(first, turn.created_at), max(last, turn.created_at)
            self._count_values()
            yield incoming
            if not isinstance(self.turns, list):
                window.append(incoming)
            if len(window) == _WINDOW:
                self.census.settle(text for turn in window for text in texts_of(turn))
                window.clear()
        self._count_values()

    def _count_values(self) -> None:
        for value in self.tally.values:
            self.census.read(value)
        self.tally.values.clear()


def texts_of(incoming: IncomingTurn) -> Texts:
    """Yield the texts of a turn, without those of its files."""
    turn, note = incoming.turn, incoming.note
    texts = [turn.content, turn.name or "", note.reasoning]
    texts += [note.model, note.provider, note.stop or ""]
    for call in [call for call in (*turn.use.calls, turn.use.answers) if call]:
        texts += [call.id, call.name, call.arguments, *strings_of(decoded(call.arguments))]
    yield from ((Place.TURNS, text) for text in texts if text)


def tags_of(tally: Tally, *lists: object) -> tuple[str, ...]:
    """Read lists of tags: in lower case, with hyphens for spaces; invalid ones are left out."""
    tags = dict[str, None]()
    for value in (value for listed in lists for value in sequence(listed)):
        try:
            name = "-".join(text(value).split()).translate(SAFE_NAME)
            tags[tag_name(name)] = None
            tally.account_for(value)
        except UsageError:
            tally.skip("tag that is not valid", value)
    return tuple(tags)


def short_id(source: str, key: str) -> str:
    """Shorten an id to one that can be typed: `chatgpt-6f1c2a9b`."""
    line = one_line(key)
    return f"{source}-{line[:8]}" if len(line) > 16 else f"{source}-{line}"


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    call_id: str
    content: str
    is_error: bool = False
    moment: datetime | None = None
    """When it came back; None for the time of its message."""
    files: tuple[IncomingFile, ...] = ()
    """Pictures, which `content` names."""


Piece = Text | Thought | ToolCall | Result | IncomingFile
"""A part of a message; the order of the parts is kept."""


def attachment(kind: str, name: str = "", detail: str = "") -> Text:
    """Return the text in place of an attachment that is not kept: `[image: plan.png, 80 kB]`."""
    details = ", ".join(filter(None, (one_line(name)[:LONGEST_NAME], detail)))
    return Text(f"[{kind}: {details}]" if details else f"[{kind}]")


def with_files(result: Result, pieces: Sequence[Piece]) -> Result:
    """Add what a result contains beside its text: files, and the names of those not kept."""
    files = tuple(piece for piece in pieces if isinstance(piece, IncomingFile))
    texts = [piece.text for piece in pieces if isinstance(piece, Text)]
    parts = (result.content, *texts, *(file.otherwise for file in files))
    content = "\n\n".join(part for part in parts if part)
    return replace(result, content=content, files=(*result.files, *files))


def quote(said: str) -> Text:
    """Return a text that a message replies to, as a quotation; empty if there is none."""
    return Text("\n".join(f"> {line}" for line in said.splitlines()))


def size_of(value: object) -> str:
    """Format a size in bytes; empty if the value is not a size."""
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        return ""
    if value < 1_000:
        return f"{value} bytes"
    return f"{value / 1000:,.0f} kB" if value < 1_000_000 else f"{value / 1e6:,.1f} MB"


@dataclass(frozen=True, slots=True)
class Note:
    """What all turns of a message have in common."""

    moment: datetime | None = None
    model: str = ""
    name: str | None = None
    is_cut: bool = False
    """Whether the reply broke off."""


_NO_NOTE = Note()


class TurnMaker:
    """Makes the turns of one conversation: numbers them and links results to their calls."""

    def __init__(self, tally: Tally, *, has_ids: bool = True) -> None:
        """Without ids in the source, a turn is identified by its number and its text."""
        self.tally = tally
        self._has_ids = has_ids
        self._numbers = Counter[str]()
        """How many turns were made of each message, by its identity."""
        self.last = 0
        """The position of the latest turn; 0 before the first."""
        self._calls: dict[str, ToolCall] = {}
        """Calls without a result, by id."""

    def turns(
        self,
        identity: str,
        role: Role,
        pieces: Iterable[Piece],
        parent: int | None = None,
        note: Note = _NO_NOTE,
    ) -> list[IncomingTurn]:
        """Make the turns of one message: one, or several if it contains tool results.

        `identity` identifies the message in its conversation. `parent` is the position of the
        turn that it follows: 0 for none, None for the latest turn.
        """
        follows = self.last if parent is None else parent
        made = list[IncomingTurn]()
        if role is not Role.USER:
            pieces = [part for piece in pieces for part in _named(piece)]
        for gathered in _gathered(pieces):
            files, reasoning = tuple[IncomingFile, ...](), ""
            if isinstance(gathered, Result):
                turn = known_by = self._result(gathered, follows, note)
                files = gathered.files
            elif gathered.is_nothing:
                self.tally.skip("empty message", note.model)
                continue
            else:
                turn = known_by = self._said(role, gathered, follows, note)
                files, reasoning = tuple(gathered.files), gathered.reasoning
                if files:  # the key must be the same whether the files are kept or not
                    known_by = replace(turn, content=repair(gathered.text_without_files))
            number = self._numbers[identity]
            self._numbers[identity] += 1
            model = shorten(note.model, LONGEST_NAME) if turn.role is Role.ASSISTANT else ""
            reply = ReplyNote(model, reasoning=repair(reasoning))
            form = turn_form(identity, number, known_by, reply.reasoning)
            key = hash_of(identity, str(number)) if self._has_ids else form
            made.append(IncomingTurn(turn, key, form, reply, files))
            follows = self.last
        if note.is_cut and made and made[-1].turn.role is Role.ASSISTANT:
            made[-1] = replace(made[-1], turn=replace(made[-1].turn, status=Status.CUT))
        return made

    def _result(self, result: Result, follows: int, note: Note) -> Turn:
        call = self._calls.pop(result.call_id, None)
        note = replace(note, moment=result.moment or note.moment)
        if call is None:
            self.tally.change("tool result without a call")
        else:
            note = replace(note, name=call.name)
        use = ToolUse(answers=call, is_error=result.is_error)
        return self._turn(Role.TOOL, result.content, follows, note, use)

    def _said(self, role: Role, said: "_Said", follows: int, note: Note) -> Turn:
        self._calls |= {call.id: call for call in said.calls}
        return self._turn(role, said.text, follows, note, ToolUse(tuple(said.calls)))

    def _turn(self, role: Role, content: str, follows: int, note: Note, use: ToolUse) -> Turn:
        whole = repair(content)
        if whole != content:
            self.tally.change("turn with invalid characters, which were replaced")
        self.last += 1
        parent = None if follows == self.last - 1 else follows
        name = shorten(repair(note.name), LONGEST_NAME) if note.name else None
        return Turn(self.last, role, whole, note.moment, name or None, parent=parent, use=use)


def _named(piece: Piece) -> Iterator[Piece]:
    """Put the text of a file that a model produced before the file: such files are not sent."""
    if isinstance(piece, IncomingFile):
        yield Text(piece.otherwise)
    if not isinstance(piece, IncomingFile) or piece.otherwise == piece.name:
        yield piece


@dataclass(slots=True)
class _Said:
    """The parts of a message between two tool results."""

    parts: list[Text | IncomingFile] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)

    @property
    def files(self) -> list[IncomingFile]:
        return [part for part in self.parts if isinstance(part, IncomingFile)]

    @property
    def text(self) -> str:
        """The message text; the file names if there is none."""
        said = [part.text for part in self.parts if isinstance(part, Text)]
        return "\n\n".join(said or [file.name for file in self.files])

    @property
    def text_without_files(self) -> str:
        """The message text as if no file were kept."""
        return "\n\n".join(
            part.text if isinstance(part, Text) else part.otherwise for part in self.parts
        )

    @property
    def reasoning(self) -> str:
        return "\n\n".join(self.thoughts)

    @property
    def is_nothing(self) -> bool:
        return not (self.parts or self.calls or self.thoughts)

    def take(self, piece: Text | Thought | ToolCall | IncomingFile) -> None:
        match piece:
            case Text(text) if text.strip():
                self.parts.append(piece)
            case IncomingFile():
                self.parts.append(piece)
            case Thought(text) if text.strip():
                self.thoughts.append(text)
            case ToolCall():
                self.calls.append(piece)


def _gathered(pieces: Iterable[Piece]) -> Iterator["Result | _Said"]:
    """Split a message at its tool results; an empty message yields one empty `_Said`."""
    said, is_first = _Said(), True
    for piece in pieces:
        if isinstance(piece, Result):
            if not said.is_nothing:
                yield said
            said, is_first = _Said(), False
            yield piece
        else:
            said.take(piece)
    if is_first or not said.is_nothing:
        yield said


def turn_form(identity: str, number: int, turn: Turn, reasoning: str = "") -> bytes:
    """Return a hash of a turn as its source has it; it changes when the turn grows."""
    tools = as_json(use_fields(turn.use)) if turn.use else ""
    thought = [reasoning] if reasoning else []
    return hash_of(identity, str(number), turn.role, turn.content, tools, *thought)


def hash_of(*parts: str) -> bytes:
    """Return a hash of some texts, 16 bytes."""
    written = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(written, digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Message:
    """A message in a tree, as read from a file."""

    id: str
    parent: str | None
    """The id of the message that it follows; None or an unknown id for a root."""
    role: Role
    pieces: Sequence[Piece] | None
    """None for a node without a message: its children become its parent's."""
    note: Note = _NO_NOTE


def tree_turns(
    messages: Mapping[str, Message], maker: TurnMaker
) -> tuple[list[IncomingTurn], dict[str, int]]:
    """Make the turns of a tree, branch by branch.

    Also return the position of each message's last turn, by message id. Siblings are in the order
    of `messages`.
    """
    made, places = list[IncomingTurn](), dict[str, int]()
    for message in _in_order(messages):
        place = places.get(message.parent or "", 0)
        if message.pieces is not None:
            turns = maker.turns(message.id, message.role, message.pieces, place, message.note)
            made += turns
            place = turns[-1].turn.position if turns else place
        places[message.id] = place
    for message in messages.values():
        if message.id not in places:
            texts = [
                piece.text for piece in message.pieces or () if isinstance(piece, Text | Thought)
            ]
            maker.tally.skip("message in a cycle of parents", texts)
    return made, places


def newest_leaf(turns: Sequence[IncomingTurn], under: int = 0) -> int | None:
    """Return the position of the newest turn without a following one, of those after a position.

    Of several that are equally new, it is the last one; None if there are no turns.
    """
    below = {under}
    inner = set[int]()
    for incoming in turns:
        turn = incoming.turn
        follows = turn.position - 1 if turn.parent is None else turn.parent
        if follows in below:
            below.add(turn.position)
            inner.add(follows)
    leaves = [incoming.turn for incoming in turns if incoming.turn.position in below - inner]
    dated = [(leaf.created_at.timestamp() if leaf.created_at else 0.0) for leaf in leaves]
    return max(zip(dated, [leaf.position for leaf in leaves], strict=True), default=(0, None))[1]


def _in_order(messages: Mapping[str, Message]) -> Iterator[Message]:
    """Yield the messages of a tree depth-first, parents first."""
    children: dict[str, list[Message]] = {}
    roots = list[Message]()
    for message in messages.values():
        if message.parent is None or message.parent not in messages:
            roots.append(message)
        else:
            children.setdefault(message.parent, []).append(message)
    waiting = roots[::-1]
    while waiting:
        yield (message := waiting.pop())
        waiting += reversed(children.get(message.id, ()))
