"""How the assistant takes note of what it is told: in many words, and none of the fact's."""

from __future__ import annotations

import random
from functools import cache

from jitchat.text.words import stems

_NOTES = (
    "Noted.",
    "Got it, I will keep that in mind.",
    "Thank you, I have made a note of it.",
    "All right. Is there anything that you would like me to do about it?",
    "Understood. Just ask when you need it again.",
    "Good to know! I will come back to it if it matters.",
    "Thanks for letting me know.",
    "Okay, that is useful to know.",
    "I see. I will bear that in mind from here on.",
    "Sure, I will remember that for you.",
    "That is clear, thanks. Anything else on your list?",
    "Very well, consider it remembered.",
    "Ah, I see. Shall I help with anything around it?",
    "Right, I have taken that down.",
    "Thanks, that helps me to follow.",
    "Fine, I will hold on to that.",
    "Understood, and thanks for the details.",
    "Good, then that is sorted.",
    "I have it. What would you like to look at next?",
    "Okay! Do you want to talk it through, or is it just for the record?",
    "Great, thanks for the heads-up.",
    "That sounds sensible. I will keep it with the rest.",
    "Makes sense. I will think of it when it comes up.",
    "Thank you for telling me. How do you feel about it?",
    "Interesting! Let me know how it goes.",
    "I will remember. Is there anything urgent about it?",
    "Alright, I have that now.",
    "Sounds good. Tell me if anything about it is unclear to you.",
    "Lovely, I have put it away safely.",
    "Duly noted, and no worries if you need me to repeat it.",
    "Thanks! That will save us some searching.",
    "I appreciate the detail, and I will rely on it.",
    "Okay, so that is how it stands. Noted.",
    "Perfect, I will refer to that if you ask.",
    "Of course. I will treat that as settled.",
    "Thanks, that answers what I was wondering about.",
)


def notes(chance: random.Random, count: int, question: str) -> list[str]:
    """Draw replies, all different, that share no content word with the question."""
    asked = set(stems(question))
    free = [each for each in _NOTES if asked.isdisjoint(_stems(each))]
    return chance.sample(free, count)


@cache
def _stems(note: str) -> frozenset[str]:
    return frozenset(stems(note))
