"""All token arithmetic: what there is to spend, and what a message costs.

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
"""Tokens, and of those of the whole conversation. More finds little more on LoCoMo; with less, its
windows lose evidence."""


_SHORT_TURN, _LONG_TURN = 96, 200
"""Tokens of a turn. Of short ones the recent block holds a fixed sum, of long ones a number."""
_TURNS_FULL, _TURNS_KEPT = 44, 12
"""Turns of the long kind: a full block, and what the cut leaves of it. With fewer, the tail
outweighs what a prompt cache can keep; cut more often, the cache is cold too often."""


@dataclass(frozen=True, slots=True)
class RecentBlock:
    """How the recent block grows, in tokens."""

    full: int
    """At most so much is in it."""
    cut: int
    """And so much is cut off where it would be more."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one window may spend, in tokens."""

    limit: int = 32_768
    """The model's context size."""
    reserve: int = 2_048
    """Kept free for the reply."""
    recent: int = 384
    """Short turns: the recent block grows to this and is then cut by half of it. Long turns get
    more; two exchanges it always holds."""
    retrieved: int = 1_536
    """For recalled turns at most; the best one may exceed it."""
    index: int = 256
    """For index lines."""
    limit_source: str = ""
    """How the limit is known, as a few words for the screen; empty where nobody said."""
    order: RecallOrder = RecallOrder.BEST_LAST
    """Of recalled turns: no matter of tokens, but of the same choice."""
    standing: int = 256
    """For standing instructions, in every mode; of more, the latest are there."""
    facts: int = 192
    """For facts that fit the message."""
    whole_file: int = 1_536
    """`jit`: a file of no more goes along whole with its turn."""
    documents: int = 2_048
    """`jit`: for the parts of files that the message needs."""

    @property
    def is_assumed(self) -> bool:
        return self.limit_source.startswith(ASSUMED)

    @property
    def budget(self) -> int:
        """What a window may hold: limit − reserve."""
        return self.limit - self.reserve

    def retrieved_of(self, whole: int) -> int:
        """What recalled turns may cost in a conversation of `whole` tokens.

        Of a short one, little: a window that holds much of what there is saves nothing.
        """
        return min(self.retrieved, max(_LEAST_RETRIEVED, int(_SHARE_RETRIEVED * whole)))

    def recent_of(self, turn: float) -> RecentBlock:
        """Size the recent block for turns of so many tokens in the mean.

        A recalled tail costs about the same whatever the turns are like; of long turns, the few
        that fit into a fixed sum would leave a prompt cache nothing to keep.
        """
        long = min(1.0, max(0.0, (turn - _SHORT_TURN) / (_LONG_TURN - _SHORT_TURN)))
        full = max(self.recent, min(int(long * _TURNS_FULL * turn), self.budget // 2))
        kept = max(self.recent // 2, full * _TURNS_KEPT // _TURNS_FULL)
        return RecentBlock(full, max(1, full - kept))

    def limited(self, limit: int, source: str) -> "Budget":
        """Use another limit; a reserve that leaves less than half of it is a quarter of it."""
        reserve = self.reserve if 2 * self.reserve <= limit else limit // 4
        return replace(self, limit=limit, reserve=reserve, limit_source=source)

    def of_size(self, budget: int) -> "Budget":
        """Keep the allowances for a window of `budget` tokens, which is no limit of a model's."""
        return replace(self, limit=budget + self.reserve, limit_source="")
