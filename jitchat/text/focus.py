"""Separate the question in a long draft from the text that is only pasted.

A draft is long if it has many characters or lines that are not prose: a log, a stack trace, code, a
quotation. The question consists of the prose sentences that ask or give an order or, if there are
none, of the first and the last sentence. Everything else is pasted text, which may mention the
subject of the question and counts little. Runs in linear time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jitchat.text.expressions import expressions
from jitchat.text.sentences import is_question, sentences

_SHORT = 400
"""Characters. A draft this short is all question, unless it has lines that are not prose."""
_EACH_END = 40_000
"""Characters searched at each end of a draft."""
_MOST_ASKING = 6
"""Maximum sentences of the question."""
_FEW_PERSONAL = 2
"""Questions with "my", "we" or "you". If there are more, they belong to a pasted dialogue."""
_LONGEST_ASKING = 300
"""Maximum characters of a sentence of the question; a longer one is cut in the middle."""
_LEAST_LETTERS = 0.6
"""Minimum share of letters in a line of prose, not counting spaces."""
_LEAST_LINE = 16
"""Characters. A shorter line counts as prose whatever its share of letters."""


@dataclass(frozen=True, slots=True)
class Focus:
    asked: str
    pasted: str = ""
    """Empty if the whole draft is the question."""


def focus_of(draft: str) -> Focus:
    """Separate a draft's question from its pasted text."""
    text = ends_of(draft, _EACH_END, "\n\n")
    stretches = _stretches(text)
    if len(text) <= _SHORT and all(is_prose for _, is_prose in stretches):
        return Focus(draft)
    prose = [each for stretch, is_prose in stretches if is_prose for each in _sentences(stretch)]
    if not prose:
        return Focus(draft)
    lines = {line.strip() for line in text.splitlines()}
    chosen = _asking(prose, [each in lines for each in prose]) or sorted({0, len(prose) - 1})
    rest = [sentence for number, sentence in enumerate(prose) if number not in chosen]
    pasted = [stretch for stretch, is_prose in stretches if not is_prose]
    asked = (ends_of(prose[number], _LONGEST_ASKING // 2) for number in chosen)
    return Focus(" ".join(asked), "\n".join((*rest, *pasted)))


def _sentences(stretch: str) -> list[str]:
    """Split prose into sentences; if one is too long, also at line ends."""
    whole = sentences(stretch)
    if all(len(each) <= _LONGEST_ASKING for each in whole):
        return whole
    return [each for line in stretch.splitlines() for each in sentences(line)]


def ends_of(text: str, size: int, between: str = " ") -> str:
    """Shorten a long text to `size` characters at each end, without cutting words in half."""
    if len(text) <= 2 * size:
        return text
    head, tail = text[:size], text[-size:]
    blank, start = head.rfind(" ", size // 2), tail.find(" ", 0, size // 2)
    return f"{head[:blank] if blank > 0 else head}{between}{tail[start + 1 :]}"


def _asking(prose: Sequence[str], is_line: Sequence[bool]) -> list[int]:
    """Return the indices of the sentences that ask or give an order, in order.

    If there are several, some may belong to a pasted text, so sentences that are whole lines, or
    the first or last sentence, are preferred. `is_line` says which sentences are whole lines.
    """
    patterns = expressions("focus")
    asking = [at for at, each in enumerate(prose) if is_question(each) or is_order(each)]
    if len(asking) <= 1:
        return asking
    if own := [number for number in asking if is_line[number]]:
        return own[:_MOST_ASKING]
    personal = [number for number in asking if patterns["personal"].search(prose[number])]
    own = [number for number in asking if number in (0, len(prose) - 1)]
    if len(personal) <= _FEW_PERSONAL:
        own = sorted({*own, *personal})
    return (own or personal or asking)[:_MOST_ASKING]


def is_order(sentence: str) -> bool:
    """Return whether a sentence begins like a question or an order."""
    return bool(expressions("focus")["orders"].match(sentence))


def _stretches(text: str) -> list[tuple[str, bool]]:
    """Split a text into stretches of prose and of other lines, each with whether it is prose."""
    found: list[tuple[list[str], bool]] = []
    is_fenced = False
    for line in text.splitlines():
        is_fence = bool(expressions("sentences")["fence"].match(line))
        is_prose = not is_fence and not is_fenced and _is_prose(line)
        is_fenced ^= is_fence
        if (not line.strip() and found) or (found and found[-1][1] == is_prose):
            found[-1][0].append(line)
        else:
            found.append(([line], is_prose))
    return [("\n".join(lines), is_prose) for lines, is_prose in found]


def _is_prose(line: str) -> bool:
    patterns = expressions("focus")
    bare = line.strip()
    if not bare:
        return True
    is_code = patterns["code"].match(line) or bare.endswith(("{", "};", ");"))
    if is_code or patterns["logged"].match(bare):
        return False
    if len(bare) < _LEAST_LINE:
        return True
    letters = sum(map(str.isalpha, bare))
    return letters >= _LEAST_LETTERS * (len(bare) - bare.count(" "))
