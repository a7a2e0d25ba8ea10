"""A turn → its entry in the hot index. Pure, and quick: well under a millisecond a turn.

The summary is the part of the turn that says most: the sentences are ranked by what they
carry (a decision, figures, names, rare words), not by where they stand.
"""

from __future__ import annotations

import re
from collections import Counter

from jitchat.text.decisions import commits
from jitchat.text.dates import has_time_cue, mentioned
from jitchat.text.safe import one_line, shortened
from jitchat.text.sentences import is_question, sentences
from jitchat.text.words import STOP_WORDS, content_words, folded
from jitchat.turn import IndexEntry, Turn

SUMMARY_WIDTH = 160
_ENTITIES = 12

_QUOTED_CODE = re.compile(r"`([^`\n]{2,60})`")
_IDENTIFIER = re.compile(
    r"(?<![\w./-])(?:--?[a-z][\w-]+|\w+(?:[_./:@-]\w+)*\d\w*(?:[_./:@-]\w+)*|[a-z]+(?:_[a-z0-9]+)+"
    r"|[a-z]+[A-Z]\w+|[A-Z]{2,}\d*)(?![\w-])"
)
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z][\w'’-]+(?:\s+(?:of\s+|the\s+)?[A-Z][\w'’-]+)*")
_OPENING_NAME = re.compile(r"(?:^|[.!?:]\s+)([A-Z][\w'’-]+)")
_PLEASANTRY = re.compile(
    r"^(?:hi|hey|hello|thanks|thank you|great|good|nice|sure|ok|okay|yes|no|yeah|wow|cool|haha"
    r"|of course|sounds good|got it|absolutely|no problem|you're welcome|morning|ha)\b[^.?!]{0,25}"
    r"[.!]*$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
_CAPTION = re.compile(r"^\[.*\]$")


def index_entry(turn: Turn) -> IndexEntry:
    """The entry of one turn."""
    said_on = turn.created_at.date() if turn.created_at else None
    found = [(sentence, commits(sentence)) for sentence in sentences(turn.content)]
    return IndexEntry(
        turn=turn.position,
        summary=_summary(turn.content, found),
        entities=entities(turn.content),
        dates=mentioned(turn.content, said_on),
        decision=any(decided for _, decided in found),
    )


def summarised(text: str) -> str:
    """One line of at most 160 characters with what the text says, in its own words."""
    return _summary(text, [(sentence, commits(sentence)) for sentence in sentences(text)])


def _summary(text: str, found: list[tuple[str, bool]]) -> str:
    """`found` are the sentences of `text`, each with whether it decides something."""
    whole = one_line(text)
    if len(whole) <= SUMMARY_WIDTH or not found:
        return shortened(whole, SUMMARY_WIDTH)
    values = [_value(sentence, decided) for sentence, decided in found]
    by_value = sorted(range(len(found)), key=lambda number: -values[number])
    kept, width = {by_value[0]}, len(found[by_value[0]][0])
    for number in by_value[1:]:
        length = len(found[number][0]) + 1
        if values[number] > 0 and width + length <= SUMMARY_WIDTH:
            kept.add(number)
            width += length
    line = one_line(" ".join(found[number][0] for number in sorted(kept)))
    return line if len(line) <= SUMMARY_WIDTH else _trimmed(line)


def entities(text: str) -> tuple[str, ...]:
    """Names, identifiers and quoted code in `text`, in order of their first use, at most 12."""
    found: Counter[str] = Counter()
    for code in _QUOTED_CODE.findall(text):
        found[code.strip()] += 1
    for pattern in (_NAME, _IDENTIFIER):
        for match in pattern.findall(text):
            found[match.strip("'’-").removesuffix("'s").removesuffix("’s")] += 1
    names = set(found)
    for opening in _OPENING_NAME.findall(text):
        if opening in names:
            found[opening] += 1
    kept = [name for name in found if folded(name) not in STOP_WORDS and len(name) > 1]
    return tuple(one_line(name) for name in kept[:_ENTITIES])


def _value(sentence: str, decided: bool) -> float:
    """How much a sentence says; at most 0 for one that says nothing."""
    if _PLEASANTRY.match(sentence):
        return 0.0
    distinct = len(set(content_words(sentence)))
    value = min(distinct, 14) / 2
    value += 3.0 * decided
    value += 1.5 * bool(_NUMBER.search(sentence)) + 0.5 * has_time_cue(sentence)
    value += 0.7 * min(3, len(entities(sentence)))
    value -= 1.5 * is_question(sentence) + 1.0 * bool(_CAPTION.match(sentence))
    return value if distinct else 0.0


def _trimmed(line: str) -> str:
    """A long sentence, cut at the end of a clause if one is near, else at a word."""
    head = line[: SUMMARY_WIDTH - 1]
    clause = max(head.rfind(mark) for mark in (", ", "; ", " - ", " – ", ": ", ") "))
    return f"{head[:clause]}…" if clause > SUMMARY_WIDTH * 0.6 else shortened(line, SUMMARY_WIDTH)
