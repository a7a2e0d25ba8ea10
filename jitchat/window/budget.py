"""All token arithmetic: how many tokens a window can spend, and on what.

The identity that holds on every surface: sum of segments + free + reserve = limit. So whatever
a protocol adds to the text is counted in the segment that caused it.

A window has a size. While the conversation with its files fits, everything is sent. After that, a
window never exceeds its size; only the message itself and its files may.
"""

from dataclasses import dataclass, replace

from jitchat.values import ASSUMED, RecallOrder

PER_MESSAGE = 4
"""Tokens that chat templates add around each message (role and separators)."""
PER_REQUEST = 3
"""Tokens that prime the reply; counted with the draft."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What may fill a window, as shares of its size.

    What a message must have (turns that it asks for, the artefact it is about) has no share: it may
    take all that is left. So may what is recalled for the first message of a conversation; then a
    part is kept free, which the messages that follow will fill.
    """

    standing: float = 1 / 16
    """Standing instructions."""
    facts: float = 1 / 32
    """Facts that match the message."""
    documents: float = 1 / 4
    """The parts of files that the message needs."""
    whole_file: float = 1 / 5
    """The largest file of an earlier message that is sent whole once not everything is sent."""
    recent: float = 1 / 16
    """Recent turns before the last exchange."""
    digest: float = 1 / 32
    """Index lines."""
    distilled: float = 1 / 4
    """Observations, or the memory document, before what is recalled."""


SHARES = Shares()
_TINY = 2_000
"""Tokens. There is no room in less for what follows a message."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one window may spend, in tokens."""

    limit: int = 32_768
    """The model's context size."""
    reserve: int = 2_048
    """Kept free for the reply."""
    size: int = 8_000
    """The most that a window holds once not everything fits."""
    limit_source: str = ""
    """How the limit is known, in a few words for the screen; empty if unknown."""
    size_source: str = ""
    """How the size was chosen, in a few words for the screen; empty if the user set it."""
    order: RecallOrder = RecallOrder.AUTO
    """The order of recalled turns. Not a number of tokens, but part of the same setting."""

    @property
    def is_assumed(self) -> bool:
        return self.limit_source.startswith(ASSUMED)

    @property
    def budget(self) -> int:
        """The most that the model takes: limit − reserve."""
        return self.limit - self.reserve

    @property
    def most(self) -> int:
        """The size, as far as the model takes it."""
        return min(self.size, self.budget)

    def share(self, share: float) -> int:
        """Return the tokens of a share of the size."""
        return int(share * self.most)

    @property
    def recalled(self) -> int:
        """What may be recalled when a window is composed anew, in tokens.

        3,000 of 8,000, and 4,000 of 16,000. The more is recalled, the more often a window is full
        and composed anew, at the full price.
        """
        return min(self.most * 3 // 8, 2_000 + self.most // 8)

    @property
    def recalled_later(self) -> int:
        """What may be recalled for a message that goes on from the window before, in tokens.

        Of ten BEAM chats, with a sixteenth the questions at the end find less of their evidence;
        with an eighth, whole chats cost a sixth more.
        """
        return self.most // 12

    @property
    def is_tiny(self) -> bool:
        """Whether the window is that of a small model, which is misled by what is beside the point.

        It is composed anew for each message, and holds no turn below the floor.
        """
        return self.most < _TINY

    @property
    def recall_order(self) -> RecallOrder:
        """The order of recalled turns: `RecallOrder.DATE` or `RecallOrder.BEST_LAST`.

        Of 96 facts among near-duplicates, SmolLM2-135M answers 69 with the best last, and 52 by
        date. Of 154 corrections in natural words, the newer statement is in the window and after
        the older one in 36 % with the best last, and in 69 % by date.
        """
        if self.order is not RecallOrder.AUTO:
            return self.order
        return RecallOrder.BEST_LAST if self.is_tiny else RecallOrder.DATE

    def limited(self, limit: int, source: str) -> "Budget":
        """Use another limit; a reserve larger than half of it becomes a quarter of it."""
        reserve = self.reserve if 2 * self.reserve <= limit else limit // 4
        return replace(self, limit=limit, reserve=reserve, limit_source=source)

    def of_size(self, size: int) -> "Budget":
        """Use another size, which may be all that the model takes."""
        return replace(self, size=size, size_source="")
