"""An index entry: what is noted of a turn by rule.

Of a turn beyond 40,000 characters, the beginning and the end are looked at. For its summary,
sentences are ranked by what they carry (a decision, figures, names, rare words), not by where
they stand; of a sentence that is too long, its clauses are. The summary of a long turn ends with
what else is in it: its headings, or the names that it uses most.
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

_REACH = 20_000
MOST_ENTITIES = 12
SUMMARY_WIDTH = 160
"""Characters a summary has at most."""


def index_entry(turn: Turn) -> IndexEntry:
    said_on = turn.created_at.date() if turn.created_at else None
    text = both_ends(searched_text(turn), _REACH, "\n\n")
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
"""Characters of a turn that is about several things: it is recalled in passages."""
_TOPICS, _TOPIC = 72, 28
"""Characters for what else is in a long turn, and for each part of that."""
_NUMBER = re.compile(r"\d")
_CAPTION = re.compile(r"\[[^\]]*\]$")
_PIECE = re.compile(rf"\S.{{0,{SUMMARY_WIDTH // 2 - 2}}}\S?(?!\S)|\S+")
_CLAUSE_END = re.compile(r" (?:(?<=[,;:)] )|(?=[–—(-]))")


def summarised(text: str, names: Sequence[str], decides: bool, width: int = SUMMARY_WIDTH) -> str:
    """Say in one line of at most `width` characters what `text` says.

    `names` are the entities of the text; `decides` tells whether a sentence of it commits.
    """
    whole = one_line(text)
    if len(whole) <= width:
        return whole
    weigh = partial(sentence_weight, names=names, decides=decides)
    titles = headings(text) if len(text) >= _LONG else []
    told = partial(_told, text, weigh=weigh, passed_over=frozenset(titles))
    if len(text) < _LONG or not (titles or names) or width < SUMMARY_WIDTH:
        return told(width)
    often = sorted(names, key=lambda name: -text.count(name))
    topics = _topics(titles or often, told(width - _TOPICS))
    return told(width - len(topics)) + topics


def _told(
    text: str,
    width: int,
    weigh: Callable[[str], float],
    passed_over: Collection[str] = frozenset(),
) -> str:
    """Choose the sentences that say most, in order, as many as fit."""
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


def _topics(topics: Iterable[str], told: str) -> str:
    """List topics that `told` does not have: ` · Setup, Costs`; empty for none."""
    known, listed = told.casefold(), ""
    for topic in dict.fromkeys(topics):
        name = shorten(topic, _TOPIC)
        line = f"{listed}, {name}" if listed else f" · {name}"
        if name and name.casefold() not in known and len(line) <= _TOPICS:
            listed = line
    return listed


def sentence_weight(sentence: str, names: Sequence[str], decides: bool) -> float:
    """Weigh what a sentence says; at most 0 for one that says nothing.

    `names` are the entities of its text; with `decides`, one that commits weighs more.
    """
    said = set(words(sentence))
    telling = len(said - english_function_words())
    if not telling or expressions("stance")["pleasantry"].match(sentence):
        return 0.0
    weight = min(telling, 14) / 2
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
    """Choose the stretch of clauses that says most; an ellipsis stands for what is left out."""
    clauses: list[str] = []
    for clause in _CLAUSE_END.split(sentence):
        # one that fits no summary is cut at blanks
        clauses += [clause] if len(clause) <= width else _PIECE.findall(clause)
    weights = [weigh(clause) for clause in clauses]
    stretches = [(start, _reach(clauses, start, width)) for start in range(len(clauses))]
    start, stop = max(stretches, key=lambda reach: sum(weights[slice(*reach)]))
    line = " ".join(clauses[start:stop]).rstrip(" ,;:")
    opening, closing = "…" * (start > 0), "…" * (stop < len(clauses))
    return shorten(f"{opening}{line}{closing}", width)


def _reach(clauses: Sequence[str], start: int, most: int) -> int:
    """Find the end of the longest stretch from `start` that fits, at least one clause."""
    stop, width = start + 1, len(clauses[start])
    while stop < len(clauses) and width + 1 + len(clauses[stop]) <= most - 2:
        width += 1 + len(clauses[stop])
        stop += 1
    return stop
