"""A conversation read from a file into memory, with what was left out and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from jitchat.store.imported import IncomingTurn
from jitchat.text.sanitize import one_line, shorten
from jitchat.transfer.incoming import Tally
from jitchat.transfer.pieces import LONGEST_NAME, Text
from jitchat.transfer.turns import Note, TurnMaker
from jitchat.values import Role, Turn

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
