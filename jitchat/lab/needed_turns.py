"""Counts the turns needed for an answer that a window holds, whole or in statements. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from jitchat.bench.asking import turns_held
from jitchat.bench.evidence import words_of_turn
from jitchat.lab.facts import Fact
from jitchat.text.words import stems
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class Needed:
    """The turns of a conversation that the answer to a fact's question needs."""

    conversation: str
    """The conversation's id."""
    turns: Mapping[int, str]
    """The turns' texts, by position."""
    fact: Fact


def needed_held(window: ContextWindow, needed: Needed) -> int:
    """Count the needed turns that a window holds.

    Statements hold a turn if those that cite it contain the answer's words or, if the turn does
    not state the answer, the words that the turn shares with the question.
    """
    whole = turns_held(window)
    return sum(turn in whole or _carries(window, turn, needed) for turn in needed.turns)


def _carries(window: ContextWindow, turn: int, needed: Needed) -> bool:
    if turn > window.distilled_through:
        return False
    fact, heard = needed.fact, frozenset(stems(needed.turns[turn]))
    wanted = heard.intersection(stems(" ".join(fact.accepted[:1])))
    wanted = wanted or heard.intersection(stems(fact.question))
    # The document names the conversation of a turn, observations do not.
    carried = (words_of_turn(window, turn, name) for name in ("", needed.conversation))
    return bool(wanted) and any(wanted <= words for words in carried)
