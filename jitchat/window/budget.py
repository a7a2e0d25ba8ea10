"""All token arithmetic: what there is to spend, and what a message costs.

The identity that holds on every surface: sum of segments + free + reserve = limit. So whatever
a protocol adds to the text is counted in the segment that caused it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

PER_MESSAGE = 4
"""Tokens that chat templates add around each message (role and separators)."""
PER_REQUEST = 3
"""Tokens that prime the reply; counted with the draft."""
_LEAST_RETRIEVED, _SHARE_RETRIEVED = 650, 0.046
"""Tokens, and of those of the whole conversation. More finds little more on LoCoMo; with less, its
windows lose evidence."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one window may spend, in tokens."""

    limit: int = 32_768
    """The model's context size."""
    reserve: int = 2_048
    """Kept free for the reply."""
    recent: int = 384
    """The recent block grows to this and is then cut by half of it; two exchanges at least."""
    retrieved: int = 1_536
    """For recalled turns at most; the best one may exceed it."""
    index: int = 256
    """For index lines."""
    limit_source: str = ""
    """How the limit is known, as a few words for the screen; empty where nobody said."""

    @property
    def budget(self) -> int:
        """What a window may hold: limit − reserve."""
        return self.limit - self.reserve

    def retrieved_of(self, whole: int) -> int:
        """What recalled turns may cost in a conversation of `whole` tokens.

        Of a short one, little: a window that holds much of what there is saves nothing.
        """
        return min(self.retrieved, max(_LEAST_RETRIEVED, int(_SHARE_RETRIEVED * whole)))

    def of_size(self, budget: int) -> Budget:
        """Keep the allowances for a window of `budget` tokens, which is no limit of a model's."""
        return replace(self, limit=budget + self.reserve, limit_source="")
