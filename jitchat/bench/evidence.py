"""Evidence text held: whether a window still contains the answer to a labelled question.

The needed words are those that the gold answer shares with the text of an evidence turn or, if it
shares none or the file gives no answer, those of the turn's sentence that best matches the
question. The window holds the evidence if it has all of these words in text of that turn: the whole
turn, an excerpt of it, or statements that cite it as a source. Words are compared as in the index:
stems of content words, and figures. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence

from jitchat.bench.questions import Question, QuestionType, type_of_category
from jitchat.text.sentences import sentences
from jitchat.text.words import stems
from jitchat.window.render import passage_texts
from jitchat.window.statements import statements_of
from jitchat.window.window import ContextWindow, Kind, Segment

_VERBATIM = (Kind.PINNED, Kind.RECENT, Kind.RETRIEVED)
_DISTILLED = (Kind.STANDING, Kind.DOCUMENT, Kind.OBSERVATIONS, Kind.FACTS)


def single_facts(questions: Sequence[Question]) -> list[Question]:
    """Return the questions that one statement of one turn answers."""
    return [
        question
        for question in questions
        if type_of_category(question.category) is QuestionType.SINGLE_FACT
        and len(question.evidence) == 1
    ]


def evidence_held(
    window: ContextWindow,
    question: Question,
    texts: Mapping[int, str],
    conversation: str = "",
) -> frozenset[int]:
    """Return the evidence turns whose words the window has; `texts` maps positions to texts.

    `conversation` is the id of the conversation with the evidence; empty for the window's own.
    """
    return frozenset(
        turn
        for turn in question.evidence
        if turn in texts
        and needed_words(texts[turn], question) <= words_of_turn(window, turn, conversation)
    )


def needed_words(text: str, question: Question) -> frozenset[str]:
    """Return the stems and figures of an evidence turn that a window must contain."""
    shared = frozenset(stems(text)).intersection(stems(question.answer))
    return shared or _best_sentence(text, question)


def _best_sentence(text: str, question: Question) -> frozenset[str]:
    """Return the words of the sentence that shares most with the question, or the longest such."""
    asked = frozenset(stems(question.text))
    said = [frozenset(stems(sentence)) for sentence in sentences(text)]
    return max(said, key=lambda words: (len(words & asked), len(words)), default=frozenset())


def words_of_turn(window: ContextWindow, turn: int, conversation: str = "") -> frozenset[str]:
    """Return the stems of all text in a window that comes from a turn."""
    found = [text for each in window.segments for text in _texts_of_turn(each, turn, conversation)]
    return frozenset(stem for text in found for stem in stems(text))


def _texts_of_turn(segment: Segment, turn: int, conversation: str) -> Iterator[str]:
    if segment.kind in _VERBATIM and segment.turn == turn and not conversation:
        yield from passage_texts(segment) or [segment.text]
    elif segment.kind in _DISTILLED:
        for text, source in statements_of(segment.text):
            if source.conversation == conversation and turn in source.turns:
                yield text
