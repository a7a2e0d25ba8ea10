"""The built-in compactor: extracts the lines of a large text that an instruction asks for.

Each part of the instruction is searched for separately, so that none takes the room of the
others. A unit scores the words of the part that it contains, weighted by how rare each is in the
text (inverse document frequency). The chosen units are quoted verbatim and in order; a line
between them states how much is left out.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from jitchat.text.figures import plural
from jitchat.text.languages import english_function_words
from jitchat.text.words import fold, stem, words
from jitchat.tools.units import Units, units_of
from jitchat.window.tokens import TokenCounter

_PARTS = re.compile(r"[,;:\n?]|\band\b|\bor\b|\bas well as\b|\bplus\b", re.IGNORECASE)
_ABOUT_ASKING = (
    "extract give list show tell find keep only all any each every what which who when where how"
    " many much please return report name value values line lines row rows entry entries need want"
    " get its their exact full compact summary summarise summarize from file log table output"
    " result text"
)
_ASKING = frozenset(words(_ABOUT_ASKING))
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FIGURE = re.compile(r"\d")
_WANTS_FIGURE = re.compile(
    r"\b(?:how (?:many|much|long)|number|count|total|sum|price|cost|amount|rate|time|duration"
    r"|latency|percent\w*|version|id|date|when|port|size|average|p9\d)\b",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"\b(?:error|errors|fail\w*|fatal|exception|panic|critical|denied|refused|timeout|timed out"
    r"|traceback|warn\w*)\b",
    re.IGNORECASE,
)
_SHARE = 0.18
"""Maximum share of the text's tokens that is kept."""
_LEAST = 200
"""Tokens that can be kept of any text, whatever its size."""
_NEAR = 0.75
"""A unit is taken first if its score is at least this share of the best score for the part."""
_OF_COMPANIONS = 0.8
"""Weight of a word that is in a companion of the unit (see `Units`), not in the unit itself."""
_FIRST_ONES = 4
"""Maximum number of units taken first for each part, before all that score less."""


@dataclass(frozen=True, slots=True)
class Extract:
    text: str
    kept: int
    """Number of units in the extract."""
    of: int


def extract(text: str, instruction: str, limit: int, counter: TokenCounter) -> Extract:
    """Extract what an instruction asks for, in at most `limit` tokens and a fifth of the text.

    If the text has nothing of it, errors and warnings are taken, then the head and the tail;
    `kept` is 0 then.
    """
    units = units_of(text)
    room = min(limit, max(_LEAST, int(_SHARE * counter.count(text))))
    room -= counter.count(units.header)
    chosen = _taken(units, _by_worth(units, instruction), room, counter)
    if chosen:
        return Extract(_written(units, chosen), len(chosen), len(units.texts))
    troubles = _taken(units, _troubles(units), room // 2, counter)
    chosen = _taken(units, _from_both_ends(len(units.texts)), room, counter, troubles)
    return Extract(_written(units, chosen), 0, len(units.texts))


def _taken(
    units: Units,
    order: Iterable[int],
    room: int,
    counter: TokenCounter,
    known: Collection[int] = (),
) -> set[int]:
    """Take units in the given order, each with its companions, while there is room.

    The units in `known` have been taken already.
    """
    chosen = set(known)
    paid = sum(counter.count(units.texts[each]) + _MARKER for each in chosen)
    for number in order:
        if number in chosen or paid + _MARKER >= room:
            continue
        wanted = {number, *units.companions[number]} - chosen
        cost = sum(counter.count(units.texts[each]) + _MARKER for each in wanted)
        if paid + cost <= room:
            chosen |= wanted
            paid += cost
    return chosen


def _troubles(units: Units) -> Iterator[int]:
    """Yield the numbers of the units that report errors or warnings."""
    return (number for number, unit in enumerate(units.texts) if _TROUBLE.search(unit))


def _from_both_ends(size: int) -> Iterator[int]:
    """Yield the numbers below `size`: two from the head for each one from the tail."""
    head, tail = iter(range(size)), iter(range(size - 1, -1, -1))
    for _ in range(0, size, 2):
        yield from (*islice(head, 2), *islice(tail, 1))


_MARKER = 9
"""Approximate tokens of a line that states what is left out."""


def _by_worth(units: Units, instruction: str) -> Iterator[int]:
    """Yield units: the best ones for each part of the instruction in turn, then the rest."""
    having = [_stems(unit) for unit in units.texts]
    rarity = _rarity(having)
    above = [frozenset[str]().union(*map(having.__getitem__, each)) for each in units.companions]
    parts = [_scores(units, having, above, rarity, part) for part in parts_of(instruction)]
    ranked = [_ranked(scores) for scores in parts]
    for place in range(_FIRST_ONES):
        for scores, order in zip(parts, ranked, strict=True):
            if place < len(order) and scores[order[place]] >= _NEAR * scores[order[0]]:
                yield order[place]
    best = dict.fromkeys(range(len(units.texts)), 0.0)
    for scores, order in zip(parts, ranked, strict=True):
        for number in order:
            best[number] = max(best[number], scores[number] / scores[order[0]])
    yield from sorted(filter(best.get, best), key=lambda number: (-best[number], number))


def parts_of(instruction: str) -> list[str]:
    """List the parts of an instruction, each separately, then the whole instruction."""
    parts = [part.strip() for part in _PARTS.split(instruction) if _wanted(part)]
    return parts if len(parts) == 1 else [*parts, instruction]


def _wanted(part: str) -> frozenset[str]:
    passed_over = _ASKING | english_function_words()
    return frozenset(stem(word) for word in words(part) if word not in passed_over)


def _stems(unit: str) -> frozenset[str]:
    """Return the stems of a unit, with the parts of words such as `UnknownHostException`."""
    return frozenset(map(stem, (*words(unit), *words(_CAMEL.sub(" ", unit)))))


def _rarity(having: Sequence[frozenset[str]]) -> Mapping[str, float]:
    counts = Counter(each for stems in having for each in stems)
    return {each: math.log(1 + len(having) / count) for each, count in counts.items()}


def _scores(
    units: Units,
    having: Sequence[frozenset[str]],
    above: Sequence[frozenset[str]],
    rarity: Mapping[str, float],
    part: str,
) -> list[float]:
    """Score each unit by its stems and those of its companions."""
    wanted, plain = _wanted(part), fold(part)
    wants_figure, wants_trouble = bool(_WANTS_FIGURE.search(part)), bool(_TROUBLE.search(plain))
    scores = []
    for unit, stems, others in zip(units.texts, having, above, strict=True):
        score = sum(rarity[each] for each in wanted & stems)
        score += _OF_COMPANIONS * sum(rarity[each] for each in wanted & others - stems)
        if wants_trouble and _TROUBLE.search(unit):
            score += 2.0
        if score and wants_figure and _FIGURE.search(unit):
            score *= 1.2
        scores.append(score)
    return scores


def _ranked(scores: Sequence[float]) -> list[int]:
    worth = [number for number, score in enumerate(scores) if score > 0]
    return sorted(worth, key=lambda number: (-scores[number], number))


def _written(units: Units, chosen: set[int]) -> str:
    written, left_out = [units.header], 0
    for number, text in enumerate(units.texts):
        if number not in chosen:
            left_out += max(1, text.count("\n"))
            continue
        if left_out:
            written.append(_left_out(written[-1], left_out))
        written.append(text)
        left_out = 0
    if left_out:
        written.append(_left_out(written[-1], left_out))
    return "".join(written)


def _left_out(before: str, lines: int) -> str:
    """Write, on a separate line, how many lines are left out after the text `before`."""
    is_within = bool(before) and not before.endswith("\n")
    return f"{chr(10) if is_within else ''}[… {plural(lines, 'line')} left out …]\n"
