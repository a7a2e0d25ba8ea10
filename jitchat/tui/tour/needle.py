"""What the tour asks for: something that was said once in the demo conversation, long ago."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Needle:
    """A turn, and the question that only this turn answers."""

    turn: int
    """Its position in the demo conversation."""
    question: str
    says: tuple[tuple[str, ...], ...]
    """What a right reply has, each in one of its spellings, in lower case."""

    def is_in(self, reply: str) -> bool:
        """Whether a reply has the answer: all that it consists of."""
        told = reply.casefold()
        return all(any(spelling in told for spelling in each) for each in self.says)


DEPLOY_WINDOW = Needle(
    turn=9,
    question="what did we settle on for the deploy window?",
    says=(("tuesday",), ("02:00", "2:00", "2 am", "2 a.m.", "2am")),
)
