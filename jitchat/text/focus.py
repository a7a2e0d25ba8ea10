"""What a long draft asks, and what it only pastes.

A draft is long that goes on for pages, or that has lines which are no prose: a log, a stack trace,
code, a quotation. Of its prose, the sentences that ask or order are what is asked; where none does,
the first and the last sentence are. All else is pasted: it may name what is asked about, and counts
little. Time grows linearly with the text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jitchat.text.expressions import expressions
from jitchat.text.sentences import is_question, sentences

_SHORT = 400
"""Characters of a draft that asks with all that it says, unless there are lines of no prose."""
_REACH = 40_000
"""Characters at either end that are looked through for what asks."""
_MOST_ASKING = 6
"""Sentences."""
_FEW_PERSONAL = 2
"""Sentences that ask and speak of "my", "we" or "you": so few are not those of a pasted talk."""
_LONGEST_ASKING = 300
"""Characters of a sentence that asks; of a longer one, the beginning and the end."""
_LEAST_LETTERS = 0.6
"""Of the characters of a line of prose, blanks aside."""
_LEAST_LINE = 16
"""Characters of a line whose letters are counted."""
_FENCE = re.compile(r"\s*+(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class Focus:
    asked: str
    pasted: str = ""
    """Empty where the whole draft asks."""


def focus_of(draft: str) -> Focus:
    """Tell what a draft asks from what it pastes."""
    text = ends_of(draft, _REACH, "\n\n")
    stretches = _stretches(text)
    if len(text) <= _SHORT and all(is_prose for _, is_prose in stretches):
        return Focus(draft)
    told = [each for stretch, is_prose in stretches if is_prose for each in _told(stretch)]
    if not told:
        return Focus(draft)
    lines = {line.strip() for line in text.splitlines()}
    chosen = _asking(told, [each in lines for each in told]) or sorted({0, len(told) - 1})
    kept = set(chosen)
    rest = [each for at, each in enumerate(told) if at not in kept]
    pasted = [stretch for stretch, is_prose in stretches if not is_prose]
    asked = (ends_of(told[at], _LONGEST_ASKING // 2) for at in chosen)
    return Focus(" ".join(asked), "\n".join((*rest, *pasted)))


def _told(stretch: str) -> list[str]:
    """Cut prose into sentences; where one is too long for that, a line ends one, too."""
    whole = sentences(stretch)
    if all(len(each) <= _LONGEST_ASKING for each in whole):
        return whole
    return [each for line in stretch.splitlines() for each in sentences(line)]


def ends_of(text: str, reach: int, between: str = " ") -> str:
    """Keep so many characters of both ends of a text that is longer, and no half of a word."""
    if len(text) <= 2 * reach:
        return text
    head, tail = text[:reach], text[-reach:]
    blank, start = head.rfind(" ", reach // 2), tail.find(" ", 0, reach // 2)
    return f"{head[:blank] if blank > 0 else head}{between}{tail[start + 1 :]}"


def _asking(told: Sequence[str], alone: Sequence[bool]) -> list[int]:
    """Choose the sentences that ask or order, in order; none where none does.

    Of several, those at either end and those in a line of their own come first: a pasted text
    asks, too. `alone` tells for each sentence whether it is such a line.
    """
    found = expressions("focus")
    asking = [at for at, sentence in enumerate(told) if is_question(sentence) or is_order(sentence)]
    if len(asking) <= 1:
        return asking
    ends = {0, len(told) - 1}
    personal = [at for at in asking if found["personal"].search(told[at])]
    if own := [at for at in asking if alone[at]]:
        return own[:_MOST_ASKING]
    own = sorted(
        {*ends.intersection(asking), *(personal if len(personal) <= _FEW_PERSONAL else ())}
    )
    return (own or personal or asking)[:_MOST_ASKING]


def is_order(sentence: str) -> bool:
    """Whether a sentence begins as what asks or orders does."""
    return bool(expressions("focus")["orders"].match(sentence))


def _stretches(text: str) -> list[tuple[str, bool]]:
    """Cut a text between lines of prose and others: each stretch, and whether it is prose."""
    found: list[tuple[list[str], bool]] = []
    is_fenced = False
    for line in text.splitlines():
        is_fence = bool(_FENCE.match(line))
        is_prose = not is_fence and not is_fenced and _is_prose(line)
        is_fenced ^= is_fence
        if (not line.strip() and found) or (found and found[-1][1] == is_prose):
            found[-1][0].append(line)
        else:
            found.append(([line], is_prose))
    return [("\n".join(lines), is_prose) for lines, is_prose in found]


def _is_prose(line: str) -> bool:
    found = expressions("focus")
    bare = line.strip()
    if not bare:
        return True
    if found["logged"].match(bare) or found["code"].match(line) or bare.endswith(("{", "};", ");")):
        return False
    if len(bare) < _LEAST_LINE:
        return True
    letters = sum(map(str.isalpha, bare))
    return letters >= _LEAST_LETTERS * (len(bare) - bare.count(" "))
