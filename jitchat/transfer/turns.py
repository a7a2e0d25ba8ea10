"""Make the turns of a conversation from its messages, which can form a tree."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from jitchat.store.imported import IncomingFile, IncomingTurn
from jitchat.store.reply_notes import ReplyNote
from jitchat.text.sanitize import one_line, repair, shorten
from jitchat.tool_fields import use_fields
from jitchat.transfer.incoming import Tally
from jitchat.transfer.json_text import as_json
from jitchat.transfer.pieces import LONGEST_NAME, Piece, Result, Text, Thought
from jitchat.values import Role, Status, ToolCall, ToolUse, Turn

_LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class FileConversation:
    id: str
    title: str
    turns: tuple[Turn, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    """How many items were left out, by reason."""
    changed: Mapping[str, int] = field(default_factory=dict)
    """How many turns were changed, by reason."""
    labels: tuple[str | None, ...] = ()
    """The file's own id for each turn, or None; one per turn."""


class ConversationBuilder:
    def __init__(self) -> None:
        self.tally = Tally()
        self.turns: list[IncomingTurn] = []
        self._maker = TurnMaker(self.tally, has_ids=False)
        self._labels: list[str | None] = []

    def take(
        self,
        role: Role,
        content: str,
        moment: datetime | None,
        name: str | None,
        label: object = None,
    ) -> None:
        """Add a turn; invalid characters are repaired and counted."""
        note = Note(moment, "", name)
        number = len(self.turns) + 1
        self.turns += self._maker.turns(str(number), role, [Text(content)], None, note)
        self._labels.append(label if isinstance(label, str) else None)

    def found(self, identity: str, title: str) -> FileConversation:
        """Return the conversation; an id or title that is too long is shortened."""
        named = one_line(identity)[:LONGEST_NAME]
        return FileConversation(
            named,
            shorten(title, _LONGEST_TITLE) or named,
            tuple(incoming.turn for incoming in self.turns),
            dict(self.tally.skipped),
            dict(self.tally.changed),
            tuple(self._labels),
        )


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
