"""Evidence text held: whether a window still answers a labelled question.

The gold answer says what has to be there: the words that it shares with the text of an evidence
turn, or, where it shares none or the file gives no answer, those of that turn's sentence that fits
the question best. The window holds the evidence where all of these words stand in text of that
turn: the turn whole, an excerpt of it, or statements among whose sources it is. Words are compared
as the index does: stems of content words, and figures. Pure.
"""

from collections.abc import Iterator, Mapping

from jitchat.bench.questions import Question
from jitchat.text.sentences import sentences
from jitchat.text.words import stems
from jitchat.window.render import passage_texts
from jitchat.window.statements import statements_of
from jitchat.window.window import ContextWindow, Kind, Segment

_LOCOMO = ("single-hop",)
_BEAM = ("information_extraction", "preference_following", "instruction_following")
_LONGMEMEVAL = ("single-session-user", "single-session-assistant", "single-session-preference")
SINGLE_FACT = frozenset((*_LOCOMO, *_BEAM, *_LONGMEMEVAL))
"""Categories whose questions one statement answers."""

_VERBATIM = (Kind.PINNED, Kind.RECENT, Kind.RETRIEVED)
_DISTILLED = (Kind.STANDING, Kind.DOCUMENT, Kind.OBSERVATIONS, Kind.FACTS)


def is_single_fact(question: Question) -> bool:
    """Whether one statement of one turn answers a question."""
    return question.category in SINGLE_FACT and len(question.evidence) == 1


def evidence_held(
    window: ContextWindow,
    question: Question,
    texts: Mapping[int, str],
    conversation: str = "",
) -> frozenset[int]:
    """Name the evidence turns whose words the window has; `texts` are those of turns, by position.

    `conversation` is the id of the one that the evidence lies in; empty for the window's own.
    """
    return frozenset(
        turn
        for turn in question.evidence
        if turn in texts
        and needed_words(texts[turn], question) <= words_of_turn(window, turn, conversation)
    )


def holds_evidence(
    window: ContextWindow,
    question: Question,
    texts: Mapping[int, str],
    conversation: str = "",
) -> bool:
    """Whether a window has the words of all evidence; a question without evidence is a miss."""
    held = evidence_held(window, question, texts, conversation)
    return bool(question.evidence) and held == question.evidence


def needed_words(text: str, question: Question) -> frozenset[str]:
    """Find what has to stand in a window of the text of an evidence turn: stems and figures."""
    shared = frozenset(stems(text)).intersection(stems(question.answer))
    return shared or _best_sentence(text, question)


def _best_sentence(text: str, question: Question) -> frozenset[str]:
    """Give the words of the sentence that shares most with the question; of equals, the longest."""
    asked = frozenset(stems(question.text))
    said = [frozenset(stems(sentence)) for sentence in sentences(text)]
    return max(said, key=lambda words: (len(words & asked), len(words)), default=frozenset())


def words_of_turn(window: ContextWindow, turn: int, conversation: str = "") -> frozenset[str]:
    """List the stems of all text in a window that stems from a turn."""
    found = [text for each in window.segments for text in _texts_of_turn(each, turn, conversation)]
    return frozenset(stem for text in found for stem in stems(text))


def _texts_of_turn(segment: Segment, turn: int, conversation: str) -> Iterator[str]:
    if segment.kind in _VERBATIM and segment.turn == turn and not conversation:
        yield from passage_texts(segment) or [segment.text]
    elif segment.kind in _DISTILLED:
        for text, source in statements_of(segment.text):
            if source.conversation == conversation and turn in source.turns:
                yield text
