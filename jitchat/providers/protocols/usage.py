"""Token counts that a server reports bit by bit: of each one, the latest that it told."""

from __future__ import annotations

from dataclasses import dataclass

from jitchat.turn import Usage


@dataclass(slots=True)
class UsageSoFar:
    """What is known of one answer's tokens; None for what was not told."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    written: int | None = None
    reasoning: int | None = None

    def told(
        self,
        sent: int | None,
        answered: int | None,
        cached: int | None = None,
        written: int | None = None,
        reasoning: int | None = None,
    ) -> Usage | None:
        """Take a report; what is known after it, or None while neither side is."""
        self.input = self.input if sent is None else sent
        self.output = self.output if answered is None else answered
        self.cached = self.cached if cached is None else cached
        self.written = self.written if written is None else written
        self.reasoning = self.reasoning if reasoning is None else reasoning
        if self.input is None and self.output is None:
            return None
        parts = (self.cached or 0, self.written or 0, self.reasoning or 0)
        return Usage(self.input, self.output, *parts)
