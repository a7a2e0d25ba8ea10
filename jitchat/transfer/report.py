"""A conversation read from a file into memory, with what was left out and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from jitchat.text.sanitize import one_line, repair, shorten
from jitchat.transfer.incoming import Tally
from jitchat.transfer.pieces import LONGEST_NAME
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
        self._turns: list[Turn] = []
        self._labels: list[str | None] = []
        self.tally = Tally()

    def take(
        self,
        role: Role,
        content: str,
        moment: datetime | None,
        name: str | None,
        label: object = None,
    ) -> None:
        """Add a turn; invalid characters are repaired and counted."""
        whole = repair(content)
        if whole != content:
            self.tally.change("turn with invalid characters, which were replaced")
        spoken = shorten(name, LONGEST_NAME) if name else ""
        position = len(self._turns) + 1
        self._turns.append(Turn(position, role, whole, moment, spoken or None))
        self._labels.append(label if isinstance(label, str) else None)

    def found(self, identity: str, title: str) -> FileConversation:
        """Return the conversation; an id or title that is too long is shortened."""
        named = one_line(identity)[:LONGEST_NAME]
        return FileConversation(
            named,
            shorten(title, _LONGEST_TITLE) or named,
            tuple(self._turns),
            dict(self.tally.skipped),
            dict(self.tally.changed),
            tuple(self._labels),
        )
