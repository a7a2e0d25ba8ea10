"""All token arithmetic: how many tokens a window can spend, and what a message costs.

The identity that holds on every surface: sum of segments + free + reserve = limit. So whatever
a protocol adds to the text is counted in the segment that caused it.
"""

from dataclasses import dataclass, replace

from jitchat.values import ASSUMED, RecallOrder

PER_MESSAGE = 4
"""Tokens that chat templates add around each message (role and separators)."""
PER_REQUEST = 3
"""Tokens that prime the reply; counted with the draft."""
_LEAST_RETRIEVED, _SHARE_RETRIEVED = 650, 0.046
"""A number of tokens, and a share of the whole conversation's tokens. On LoCoMo, larger values find
little more; with smaller ones, windows lose evidence."""


_SHORT_TURN, _LONG_TURN = 96, 200
"""Tokens per turn. Short turns fill the recent block up to a fixed sum of tokens, long ones up to a
number of turns."""
_TURNS_FULL, _TURNS_KEPT = 44, 12
"""Long turns in a full block, and after a cut. With fewer, the tail outweighs what a prompt cache
can keep; with more frequent cuts, the cache is cold too often."""


@dataclass(frozen=True, slots=True)
class RecentBlock:
    """How the recent block grows, in tokens."""

    full: int
    """The most that the block holds."""
    cut: int
    """How much is cut off when it would hold more."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one window may spend, in tokens."""

    limit: int = 32_768
    """The model's context size."""
    reserve: int = 2_048
    """Kept free for the reply."""
    recent: int = 384
    """With short turns, the recent block grows to this and is then cut by half. Long turns get
    more. The block always holds at least two exchanges."""
    retrieved: int = 1_536
    """Maximum for recalled turns; the best one may exceed it."""
    index: int = 256
    """For index lines."""
    limit_source: str = ""
    """How the limit is known, in a few words for the screen; empty if unknown."""
    order: RecallOrder = RecallOrder.BEST_LAST
    """The order of recalled turns. Not a number of tokens, but part of the same setting."""
    standing: int = 256
    """For standing instructions, in every mode; if they need more, the latest are sent."""
    facts: int = 192
    """For facts that match the message."""
    whole_file: int = 1_536
    """`jit`: the largest file that is sent whole with its turn."""
    documents: int = 2_048
    """`jit`: for the parts of files that the message needs."""

    @property
    def is_assumed(self) -> bool:
        return self.limit_source.startswith(ASSUMED)

    @property
    def budget(self) -> int:
        """The most that a window can hold: limit − reserve."""
        return self.limit - self.reserve

    def retrieved_of(self, whole: int) -> int:
        """Return the maximum cost of recalled turns in a conversation of `whole` tokens.

        It is small for a short conversation: a window that holds most of it saves nothing.
        """
        return min(self.retrieved, max(_LEAST_RETRIEVED, int(_SHARE_RETRIEVED * whole)))

    def recent_of(self, turn: float) -> RecentBlock:
        """Size the recent block for turns with a mean of `turn` tokens.

        A recalled tail costs about the same for any length of turn. The few long turns that fit
        into a fixed sum would leave nothing for a prompt cache to keep.
        """
        long = min(1.0, max(0.0, (turn - _SHORT_TURN) / (_LONG_TURN - _SHORT_TURN)))
        full = max(self.recent, min(int(long * _TURNS_FULL * turn), self.budget // 2))
        kept = max(self.recent // 2, full * _TURNS_KEPT // _TURNS_FULL)
        return RecentBlock(full, max(1, full - kept))

    def limited(self, limit: int, source: str) -> "Budget":
        """Use another limit; a reserve larger than half of it becomes a quarter of it."""
        reserve = self.reserve if 2 * self.reserve <= limit else limit // 4
        return replace(self, limit=limit, reserve=reserve, limit_source=source)

    def of_size(self, budget: int) -> "Budget":
        """Keep the allowances for a window of `budget` tokens, which is not a model's limit."""
        return replace(self, limit=budget + self.reserve, limit_source="")
