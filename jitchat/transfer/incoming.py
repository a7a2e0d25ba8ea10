"""What an import format reads from a file: conversations, whose turns are read lazily."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from jitchat.errors import UsageError
from jitchat.store.imported import Heading, ImportWriter, IncomingTurn, Origin, Twin
from jitchat.store.store import LONGEST_TITLE, SAFE_NAME, ColdStore, project_name, tag_name
from jitchat.text.sanitize import one_line, repair, shorten
from jitchat.transfer.census import Census, Place, Texts, plain, rules_of, strings_of
from jitchat.transfer.json_text import decoded, sequence, text
from jitchat.transfer.pieces import LONGEST_NAME
from jitchat.values import DEFAULT_PROJECT, Role

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
    title: str = ""
    turns: Iterable[IncomingTurn] = ()
    tally: Tally = field(default_factory=Tally)
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
    id: str = ""
    """The preferred id; another one is used if it is taken. Empty for one made of the origin."""
    census: Census = field(init=False)
    _first_words: str = ""
    """The user's first message: the title if the source has none."""
    _span: tuple[datetime, datetime] | None = None
    """The times of the earliest and the latest turn, used if the source has no times."""

    def __post_init__(self) -> None:
        self.id = one_line(repair(self.id or _short_id(self.origin)))[:LONGEST_NAME]
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


def _short_id(origin: Origin) -> str:
    """Shorten an origin to an id that can be typed: `chatgpt-6f1c2a9b`."""
    line = one_line(origin.key)
    return f"{origin.source}-{line[:8]}" if len(line) > 16 else f"{origin.source}-{line}"
