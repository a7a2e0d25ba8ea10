"""What is asked for in the lab: the kinds of question."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """A kind of question, by what makes it hard."""

    DIRECT = "direct"
    """It shares words with the fact."""
    PARAPHRASED = "paraphrased"
    """It shares none: what rot hits first."""
    UPDATED = "updated"
    """The fact changed later; the old value is wrong."""
    DISTRACTED = "distracted"
    """Near-duplicates say the same of other systems and people."""
    EXACT = "exact"
    """The answer is a string that has to be right to the letter."""
    COUNTING = "counting"
    """The answer is a count over four turns."""
    ABSENT = "absent"
    """It was never said: the honest answer is that."""
