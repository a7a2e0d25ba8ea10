"""Token counts that a server reports bit by bit: of each one, the latest that it told."""

from __future__ import annotations

from jitchat.turn import Usage


class CountsSoFar:
    """The counts of one answer, by the names that a protocol gives them.

    `cached`, `written` and `reasoning` are those of a `Usage`.
    """

    def __init__(self) -> None:
        self._latest: dict[str, int] = {}
        self.cost: float | None = None
        """In US dollars, as the server reported it; None where it did not."""

    def take(self, **told: int | None) -> bool:
        """Take a report, with None for what it does not tell; whether it told anything."""
        known = {name: number for name, number in told.items() if number is not None}
        self._latest |= known
        return bool(known)

    def get(self, name: str) -> int | None:
        """Say what is known of one count; None where it was not told."""
        return self._latest.get(name)

    def sum(self, *names: str) -> int | None:
        """Add up what is known of some counts; None where none of them was told."""
        told = [self._latest[name] for name in names if name in self._latest]
        return sum(told) if told else None

    def usage(self, sent: int | None, answered: int | None) -> Usage | None:
        """Say what is known by now of all of the input and the output; None while neither is.

        No request is empty: an input of 0 is a proxy that does not know, and then its 0 of output
        is none either.
        """
        sent = sent or None
        answered = answered if sent is not None else answered or None
        if sent is None and answered is None:
            return None
        cached, written, reasoning = (
            self._latest.get(name, 0) for name in ("cached", "written", "reasoning")
        )
        return Usage(sent, answered, cached, written, reasoning, self.cost)
