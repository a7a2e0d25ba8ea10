"""Build a turn's index entry by rules, without a model.

Only the beginning and the end of a turn longer than 40,000 characters are read. For the summary,
sentences are ranked by what they contain (a decision, figures, names, rare words), not by their
position; if a sentence is too long, its clauses are ranked instead. The summary of a long turn ends
with its other topics: its headings, or its most frequent names.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from operator import itemgetter

from jitchat.index.tool_results import result_line, searched_text
from jitchat.text.blocks import headings
from jitchat.text.dates import dates_in, has_time_cue, tells_when
from jitchat.text.entities import entities
from jitchat.text.expressions import expressions
from jitchat.text.languages import english_function_words
from jitchat.text.sanitize import both_ends, one_line, shorten
from jitchat.text.sentences import is_question, marked_sentences
from jitchat.text.stance import commits, disclaims, is_decision, is_standing
from jitchat.text.words import words
from jitchat.values import IndexEntry, Role, Turn

_EACH_END = 20_000
"""Characters read at each end of a long turn."""
MOST_ENTITIES = 12
SUMMARY_WIDTH = 160
"""Maximum characters of a summary."""


def index_entry(turn: Turn) -> IndexEntry:
    said_on = turn.created_at.date() if turn.created_at else None
    text = both_ends(searched_text(turn), _EACH_END, "\n\n")
    if turn.use.answers is not None:
        line = shorten(result_line(turn), SUMMARY_WIDTH)
        names = entities(text)[:MOST_ENTITIES]
        return IndexEntry(turn.position, line, names, dates_in(text, said_on))
    names, decides = entities(text), is_decision(text)
    return IndexEntry(
        turn=turn.position,
        summary=summarised(text, names, decides),
        entities=names[:MOST_ENTITIES],
        dates=dates_in(text, said_on),
        decision=decides,
        asks=is_question(turn.content),
        tells_when=has_time_cue(text),
        disclaims=disclaims(turn.content),
        standing=turn.role is Role.USER and is_standing(text),
    )


_LONG = 1_300
"""Characters. A turn this long covers several topics and is recalled as passages."""
_TOPICS, _TOPIC = 72, 28
"""Maximum characters of the list of topics in a long turn's summary, and of one topic."""
_NUMBER = re.compile(r"\d")
_CAPTION = re.compile(r"\[[^\]]*\]$")
_PIECE = re.compile(rf"\S.{{0,{SUMMARY_WIDTH // 2 - 2}}}\S?(?!\S)|\S+")
_CLAUSE_END = re.compile(r" (?:(?<=[,;:)] )|(?=[–—(-]))")


def summarised(text: str, names: Sequence[str], decides: bool, width: int = SUMMARY_WIDTH) -> str:
    """Summarise `text` in one line of at most `width` characters.

    `names` are the text's entities; `decides` is whether one of its sentences is a decision.
    """
    whole = one_line(text)
    if len(whole) <= width:
        return whole
    weigh = partial(sentence_weight, names=names, decides=decides)
    titles = headings(text) if len(text) >= _LONG else []
    sentences = partial(_best_sentences, text, weigh=weigh, passed_over=frozenset(titles))
    if len(text) < _LONG or not (titles or names) or width < SUMMARY_WIDTH:
        return sentences(width)
    by_frequency = sorted(names, key=lambda name: -text.count(name))
    topics = _topics(titles or by_frequency, sentences(width - _TOPICS))
    return sentences(width - len(topics)) + topics


def _best_sentences(
    text: str,
    width: int,
    weigh: Callable[[str], float],
    passed_over: Collection[str] = frozenset(),
) -> str:
    """Return the most informative sentences, in order, as many as fit."""
    marked = marked_sentences(text)
    if len(marked) == 1:
        return _best_clauses(one_line(marked[0][0]), width, weigh)
    found = [
        (weigh(sentence) - 1.5 * is_code, sentence)
        for sentence, is_code in marked
        if sentence.strip("*_: ") not in passed_over
    ]
    weight, best = max(found, key=itemgetter(0), default=(0.0, ""))
    if weight <= 0:
        return shorten(one_line(text), width)
    if len(best) > width:
        return _best_clauses(one_line(best), width, weigh)
    return one_line(" ".join(_fitting(found, width)))


def _topics(topics: Iterable[str], summary: str) -> str:
    """List the topics that are not in `summary`: ` · Setup, Costs`; "" if there are none."""
    known, listed = summary.casefold(), ""
    for topic in dict.fromkeys(topics):
        name = shorten(topic, _TOPIC)
        line = f"{listed}, {name}" if listed else f" · {name}"
        if name and name.casefold() not in known and len(line) <= _TOPICS:
            listed = line
    return listed


def sentence_weight(sentence: str, names: Sequence[str], decides: bool) -> float:
    """Return how informative a sentence is; 0 or less if it says nothing.

    `names` are the entities of its text. With `decides`, a sentence with a decision weighs more.
    """
    said = set(words(sentence))
    content_words = len(said - english_function_words())
    if not content_words or expressions("stance")["pleasantry"].match(sentence):
        return 0.0
    weight = min(content_words, 14) / 2
    weight += 3.0 * (decides and commits(sentence))
    weight += 1.5 * bool(_NUMBER.search(sentence)) + 0.5 * tells_when(sentence, said)
    weight += 0.7 * min(3, sum(map(sentence.__contains__, names)))
    return weight - 1.5 * is_question(sentence) - 1.0 * bool(_CAPTION.match(sentence))


def _fitting(found: Sequence[tuple[float, str]], width: int) -> list[str]:
    kept: set[int] = set()
    left = width + 1
    for number in sorted(range(len(found)), key=lambda number: -found[number][0]):
        weight, sentence = found[number]
        if weight > 0 and len(sentence) < left:
            kept.add(number)
            left -= len(sentence) + 1
    return [found[number][1] for number in sorted(kept)]


def _best_clauses(sentence: str, width: int, weigh: Callable[[str], float]) -> str:
    """Return the most informative run of clauses; an ellipsis marks what is left out."""
    clauses: list[str] = []
    for clause in _CLAUSE_END.split(sentence):
        # a clause longer than the summary is cut at spaces
        clauses += [clause] if len(clause) <= width else _PIECE.findall(clause)
    weights = [weigh(clause) for clause in clauses]
    runs = [(start, _run_end(clauses, start, width)) for start in range(len(clauses))]
    start, stop = max(runs, key=lambda run: sum(weights[slice(*run)]))
    line = " ".join(clauses[start:stop]).rstrip(" ,;:")
    opening, closing = "…" * (start > 0), "…" * (stop < len(clauses))
    return shorten(f"{opening}{line}{closing}", width)


def _run_end(clauses: Sequence[str], start: int, most: int) -> int:
    """Find the end of the longest run of clauses from `start` that fits, at least one clause."""
    stop, width = start + 1, len(clauses[start])
    while stop < len(clauses) and width + 1 + len(clauses[stop]) <= most - 2:
        width += 1 + len(clauses[stop])
        stop += 1
    return stop
