"""Conversations with a marker word in every stored part, to follow each part into a request."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from jitchat.attachments import Attachment, Picture
from jitchat.attachments import Part as FilePart
from jitchat.memory import Memory
from jitchat.statements import DocumentLine, Fact, FactKind, MemoryDocument, Observation, Section
from jitchat.statements import Source as Of
from jitchat.store.documents import DocumentStore
from jitchat.store.pins import Pins
from jitchat.values import (
    REQUEST_CONTEXT,
    Echo,
    Role,
    Shortened,
    Status,
    ToolCall,
    ToolUse,
    Turn,
)
from jitchat.window.exchange import compacted_as
from jitchat.window.steering import Hold
from jitchat.writing.calls import arguments_object
from tests.support import observe, png

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jitchat.store.store import ColdStore

TOPICS = ("gateway", "harbour", "crane", "relay", "colour", "licence")
SIZES = (8, 60, 400, 2_000)
"""Characters of a text, about."""
PROTOCOLS = ("openai", "responses", "anthropic", "gemini", "ollama")
MODELS = {"gemini": "gemini-3-pro"}
"""A model that wants signatures; the others have no model of their own."""
SERVER = "srv"


def origin_of(protocol_name: str) -> str:
    return f"{protocol_name}:{SERVER}/{MODELS.get(protocol_name, 'm')}"


@dataclass(frozen=True, slots=True)
class Mark:
    """A stored part that has a marker."""

    kind: str
    """`content`, `arguments`, `result`, `reasoning`, `form`, `file`, and so on."""
    turn: int | None = None
    key: str = ""
    """The origin of reasoning; the digest of a file."""


@dataclass(slots=True)
class Marks:
    """Makes marker words, and remembers where each was planted."""

    known: dict[str, Mark] = field(default_factory=dict)
    sign: str = "§"

    def put(self, kind: str, turn: int | None = None, key: str = "") -> str:
        word = f"{self.sign}{len(self.known)}{self.sign}"
        self.known[word] = Mark(kind, turn, key)
        return word

    def text(self, size: int, kind: str, turn: int | None = None, key: str = "") -> str:
        """Write about `size` characters on a topic; a long text has a marker at both ends."""
        topic = TOPICS[len(self.known) % len(TOPICS)]
        first = self.put(kind, turn, key)
        if size <= SIZES[0]:
            return f"{topic} {first}"
        line = f"The {topic} of the harbour has number {len(self.known)}, they said.\n"
        filler = line * (size // len(line))
        return f"{first} {filler}The {topic} is {self.put(kind, turn, key)}"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of a conversation, as drawn."""

    kind: str
    size: int
    variant: int
    """Its bits decide on details."""


UNITS = (
    *("talk", "talk", "talk", "calls", "calls", "calls", "file", "versions"),
    *("stray", "unanswered", "empty", "own"),
)


@st.composite
def units(draw: st.DrawFn) -> Unit:
    kind, size = draw(st.sampled_from(UNITS)), draw(st.sampled_from(SIZES))
    return Unit(kind, size, draw(st.integers(0, 255)))


@dataclass(frozen=True, slots=True)
class Plot:
    """What a conversation is made of."""

    units: tuple[Unit, ...]
    pins: tuple[tuple[int, Hold], ...] = ()
    """Positions, from the end, of turns that are pinned or excluded."""
    facts: int = 0
    observed: int = 0
    """How many tenths of the turns are observed, and are in the document."""
    others: int = 0
    """Turns of another conversation."""


HOLDS = st.tuples(st.integers(0, 12), st.sampled_from(Hold))
PLOTS = st.builds(
    Plot,
    st.lists(units(), max_size=9).map(tuple),
    st.lists(HOLDS, max_size=3).map(tuple),
    st.sampled_from((0, 0, 2, 9)),
    st.sampled_from((0, 0, 5, 8)),
    st.sampled_from((0, 2)),
)


class World:
    """A stored conversation, made by a plot."""

    def __init__(self, store: ColdStore, plot: Plot) -> None:
        self.store, self.plot, self.marks = store, plot, Marks()
        self.moment = store.now()
        made = store.create("A talk", "talk")
        self.identity = made.id
        self.last = 0
        self.files: dict[int, tuple[str, ...]] = {}
        """Digests of the files of each turn."""
        for unit in plot.units:
            getattr(self, f"_{unit.kind}")(unit)
        self.memory = Memory(store, store.conversation(made.id))
        self._attach()
        self._hold()
        self._distil()
        self._beside()
        self.memory = Memory(store, store.conversation(made.id))
        list(self.memory.index.catch_up())

    def _add(self, *turns: Turn, under: int | None = None) -> list[Turn]:
        stored = self.store.append(self.identity, turns, under)
        self.last = stored[-1].position
        return stored

    def _turn(self, role: Role, content: str, **more: Any) -> Turn:
        self.moment += timedelta(hours=7)
        return Turn(0, role, content, self.moment, **more)

    def _said(self, unit: Unit, **more: Any) -> Turn:
        text = self.marks.text(min(unit.size, SIZES[2]), "content", self.last + 1)
        ending = "?" if unit.variant & 1 else "."
        if unit.variant % 8 == 5:
            more["use"] = compacted_as(self.marks.text(SIZES[0], "form", self.last + 1))
        return self._turn(Role.USER, text + ending, **more)

    def _answer(self, unit: Unit, position: int) -> Turn:
        statuses = (Status.COMPLETE, Status.COMPLETE, Status.CUT, Status.CANCELLED)
        text = self.marks.text(unit.size, "content", position)
        name = ("Ana", None, None, None)[unit.variant >> 2 & 3]
        return self._turn(Role.ASSISTANT, text, name=name, status=statuses[unit.variant & 3])

    def _talk(self, unit: Unit) -> None:
        self._add(self._said(unit))
        self._add(self._answer(unit, self.last + 1))

    def _file(self, unit: Unit) -> None:
        self._add(self._said(unit))
        self.files[self.last] = (str(unit.variant & 7), str(unit.size))
        self._add(self._answer(replace(unit, size=SIZES[0]), self.last + 1))

    def _versions(self, unit: Unit) -> None:
        said = self._add(self._said(unit))[0].position
        self._add(self._answer(unit, self.last + 1))
        self._add(self._answer(unit, self.last + 1), under=said)
        if unit.variant & 16:
            self.store.switch_to(self.identity, said + 1)

    def _unanswered(self, unit: Unit) -> None:
        self._add(self._said(unit, status=Status.UNANSWERED))

    def _empty(self, unit: Unit) -> None:
        self._add(self._said(unit))
        blank = ("", " \n")[unit.variant & 1]
        self._add(self._turn(Role.ASSISTANT, blank, status=Status.CANCELLED))

    def _stray(self, unit: Unit) -> None:
        """What imports bring: tools' turns and system turns, and results without a call."""
        text = self.marks.text(unit.size, "content", self.last + 1)
        call = ToolCall(f"gone{unit.variant}", "Read", '{"path": "a"}')
        uses = (ToolUse(), ToolUse(answers=call), ToolUse())
        role = (Role.TOOL, Role.TOOL, Role.SYSTEM)[unit.variant % 3]
        self._add(self._turn(role, text, use=uses[unit.variant % 3]))

    def _own(self, unit: Unit) -> None:
        """A call of jitchat's own tool, of which later windows have nothing."""
        call = ToolCall("own1", REQUEST_CONTEXT, '{"query": "crane"}')
        self._add(self._said(unit))
        self._add(self._turn(Role.ASSISTANT, "", use=ToolUse((call,))))
        text = self.marks.text(unit.size, "own result", self.last + 1)
        self._add(self._turn(Role.TOOL, text, use=ToolUse(answers=call)))
        self._add(self._answer(replace(unit, size=SIZES[0]), self.last + 1))

    def _calls(self, unit: Unit) -> None:
        """Parallel calls with results: whole, failed, held or compacted, blank, or missing."""
        variant = unit.variant
        self._add(self._said(unit))
        position = self.last + 1
        called, uses = self._calling(unit, position)
        self._add(called)
        for number, call in enumerate(uses):
            kind = (variant >> 3) + number
            if kind % 8 == 7 and number == len(uses) - 1:
                return  # never answered
            text, form = ("", "\n")[kind % 2], None
            if kind % 16 not in (5, 6):
                text = self.marks.text(unit.size, "result", self.last + 1)
            if kind % 4 == 3:
                form = f"{self.marks.text(SIZES[1], 'form', self.last + 1)}\n[this is a preview]"
            shortened = Shortened(form) if form is not None else None
            use = ToolUse(answers=call, is_error=kind % 4 == 1, form=shortened)
            self._add(self._turn(Role.TOOL, text, name=call.name, use=use))
        if variant & 128:
            self._add(self._answer(replace(unit, size=SIZES[0]), self.last + 1))

    def _calling(self, unit: Unit, position: int) -> tuple[Turn, tuple[ToolCall, ...]]:
        """Make an answer with calls, and perhaps with the reasoning that its server wants back."""
        variant = unit.variant
        text = self.marks.text(SIZES[1], "content", position) if variant & 1 else ""
        first = 10 * position if variant & 4 else 1  # servers may use ids again
        calls = tuple(
            ToolCall(
                ("call{:05}", "toolu_{}", "a-{}")[variant % 3].format(first + number),
                "odd name!" if number == 2 else ("Write", "search")[(variant + number) % 2],
                self._arguments(unit, position, number),
            )
            for number in range(1 + (variant >> 1) % 3)
        )
        protocol_name = (*PROTOCOLS, "")[(variant >> 4) % 6]
        echo = None
        if protocol_name:
            echo = echo_of(protocol_name, (text, calls), self.marks, position, variant)
        use = ToolUse(calls, echo)
        status = Status.CUT if variant & 64 else Status.COMPLETE
        return self._turn(Role.ASSISTANT, text, use=use, status=status), calls

    def _arguments(self, unit: Unit, position: int, number: int) -> str:
        kind = (unit.variant + number) % 5
        if kind == 0:
            return ""
        if kind == 1:
            return f'{{"city": "{self.marks.put("arguments", position)}'  # cut
        text = self.marks.text(unit.size, "arguments", position)
        given = {"path": "a.py", "content": text, "options": {"lines": [1, None], "tag": "é\u2028"}}
        return json.dumps(given, ensure_ascii=kind == 2)

    def _attach(self) -> None:
        known = {turn.position: turn for turn in self.memory.turns}
        for position, (kind, size) in self.files.items():
            if position in known:
                files = self._made_files(position, int(kind), int(size))
                self.memory.attachments.put(known[position], files)
                self.files[position] = tuple(file.digest for file in files)

    def _made_files(self, position: int, kind: int, size: int) -> list[Attachment]:
        files = [self._text_file("notes.md", position, size)] if kind & 1 or kind == 0 else []
        if kind & 2:
            files.append(self._text_file("long.md", position, 4 * size, parts=4))
        if kind & 4:
            data = png(32 + position, 24)
            picture = Picture("p.png", sha256(data).hexdigest(), "image/png", 32 + position, 24)
            known = picture.name, picture.digest, picture.media_type, len(data)
            files.append(Attachment(*known, picture=picture, data=data))
            self.marks.known[picture.digest] = Mark("picture", position, picture.digest)
        return files

    def _text_file(self, name: str, position: int, size: int, parts: int = 1) -> Attachment:
        digest = sha256(f"{name}{position}{size}".encode()).hexdigest()
        made = tuple(
            FilePart(f"§ Part {number}", self.marks.text(size // parts, "file", position, digest))
            for number in range(parts)
        )
        return Attachment(name, digest, "text/markdown", size, made)

    def _hold(self) -> None:
        turns = self.memory.turns
        for back, hold in self.plot.pins:
            if back < len(turns):
                Pins(self.store.database).put(turns[-1 - back], hold)

    def _distil(self) -> None:
        kinds = (FactKind.STANDING, FactKind.DECISION, FactKind.PREFERENCE)
        for number in range(self.plot.facts):
            kind = kinds[number % 3]
            mark = "standing" if kind is FactKind.STANDING else "fact"
            text = self.marks.text(SIZES[number % 2], mark).replace("\n", " ")
            self.memory.facts.keep(Fact(0, f"{number}: {text}", kind, None))
        held = " ".join(fact.text for fact in self.memory.facts.holding())
        for word, known in self.marks.known.items():
            if known.kind in ("standing", "fact") and word not in held:
                self.marks.known[word] = Mark("superseded")  # by a later fact that says nearly it
        turns = self.memory.turns
        size = len(turns) * self.plot.observed // 10
        while size < len(turns) and turns[size].use.answers is not None:
            size += 1  # a call and its results are observed together
        if not size:
            return
        through = turns[size - 1].position
        lines = [
            Observation(self.marks.text(SIZES[0], "observation"), Of(number + 1, number + 1))
            for number in range(min(2, through))
        ]
        observe(self.memory, through, *lines)
        kept = [
            DocumentLine(
                Section.FACTS,
                self.marks.text(SIZES[0], "document"),
                Of(number + 1, number + 1, self.identity),
            )
            for number in range(min(2, through))
        ]
        document = MemoryDocument(tuple(kept), 0, {self.identity: through})
        project = self.store.project_of(self.identity)
        DocumentStore(self.store.database, project, self.store.now).put(document, "built in")

    def _beside(self) -> None:
        """Store another conversation, whose turns recall may include."""
        if not self.plot.others:
            return
        other = self.store.create("Another", "other")
        turns = [
            self._turn((Role.USER, Role.ASSISTANT)[number % 2], self.marks.text(60, "elsewhere"))
            for number in range(self.plot.others)
        ]
        self.store.append(other.id, turns)
        list(Memory(self.store, self.store.conversation(other.id)).index.catch_up())


def echo_of(
    protocol_name: str,
    answer: tuple[str, Sequence[ToolCall]],
    marks: Marks,
    position: int,
    variant: int = 0,
) -> Echo:
    """Make what a protocol wants back with an answer, in the format of its documentation."""
    text, calls = answer
    origin = origin_of(protocol_name)
    thought = marks.text(SIZES[1], "reasoning", position, origin)
    again = marks.text(SIZES[0], "reasoning", position, origin)
    secret = sha256(thought.encode()).hexdigest()
    made = _ECHOES[protocol_name](text, calls, (thought, again, secret), variant)
    return Echo(origin, json.dumps(made), (None, 9, 900)[variant % 3])


Thoughts = tuple[str, str, str]
"""Two texts of reasoning, and a signature."""


def _openai(_: str, calls: Sequence[ToolCall], thoughts: Thoughts, variant: int) -> object:
    thought, again, secret = thoughts
    if variant % 3 == 0:
        return {("reasoning_content", "reasoning")[variant & 1]: thought + again}
    signed = {"google": {"thought_signature": secret}}
    details = [
        {"type": "reasoning.text", "text": thought, "signature": secret, "index": 0},
        {"type": "reasoning.summary", "summary": again, "format": "unknown", "index": 1},
        {"type": "reasoning.encrypted", "data": secret, "id": "r1", "index": 2},
    ]
    beside = [{"extra_content": signed}, *({} for _ in calls[1:])]
    return {"reasoning_details": details} | ({"tool_calls": beside} if variant % 3 == 2 else {})


def _responses(text: str, calls: Sequence[ToolCall], thoughts: Thoughts, _: int) -> object:
    thought, again, secret = thoughts
    said = {"type": "output_text", "text": text, "annotations": []}
    message = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant"}
    return [
        {
            "id": "rs_1",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": each} for each in (thought, again)],
            "encrypted_content": secret,
        },
        *([message | {"content": [said]}] if text else []),
        *(
            {
                "id": f"fc_{number}",
                "type": "function_call",
                "status": "completed",
                "call_id": call.id,
                "name": call.name,
                "arguments": call.arguments,
            }
            for number, call in enumerate(calls)
        ),
    ]


def _anthropic(text: str, calls: Sequence[ToolCall], thoughts: Thoughts, _: int) -> object:
    thought, again, secret = thoughts
    return [
        {"type": "thinking", "thinking": thought, "signature": secret},
        {"type": "redacted_thinking", "data": secret},
        *([{"type": "text", "text": text}] if text else []),
        {"type": "thinking", "thinking": again, "signature": secret},
        *(
            {
                "type": "tool_use",
                "id": call.id,
                "name": call.name,
                "input": arguments_object(call),
            }
            for call in calls
        ),
    ]


def _gemini(text: str, calls: Sequence[ToolCall], thoughts: Thoughts, _: int) -> object:
    thought, again, secret = thoughts
    parts: list[dict[str, Any]] = [
        {
            "functionCall": {"name": call.name, "args": arguments_object(call)}
            | ({} if call.id.startswith("call0") else {"id": call.id})
        }
        for call in calls
    ]
    parts[0]["thoughtSignature"] = secret
    said = [{"text": text}] if text else []
    thoughts_sent = [
        {"text": each, "thought": True, "thoughtSignature": secret} for each in (thought, again)
    ]
    return [*thoughts_sent, *said, *parts]


def _ollama(_: str, calls: Sequence[ToolCall], thoughts: Thoughts, variant: int) -> object:
    return {"thinking": "".join(thoughts[:2])}


_ECHOES = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _ollama,
}
