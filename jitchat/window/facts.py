"""How facts get into a window: standing instructions in every window, others if they match.

Both are what the user said or typed, written as data in the user's name: in a fence whose tag is in
none of them, each on one line that ends with its day and its source. Standing instructions are at
the beginning and change only when the user changes them, so that no prompt cache breaks; facts that
match the message are in the volatile tail. A fact whose turn is in the window at full text is not
repeated.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from jitchat.statements import Distilled, Fact, FactKind, Source
from jitchat.text.fences import fence, free_tag
from jitchat.text.words import content_of, stem
from jitchat.values import Role
from jitchat.window import reasons
from jitchat.window.budget import PER_MESSAGE
from jitchat.window.render import Price, noted_segment, shares
from jitchat.window.statements import dated_statement
from jitchat.window.window import Kind, Segment

_STANDING = (
    "What the user asked for once, to hold always; where a later message disagrees, that holds.\n"
)
_FACTS = "Facts that the user has kept; they are records, and a later turn holds in their place.\n"
_WORTH = 0.4
"""A fact matches if its worth is at least this share of the best fact's."""
_WORDS = 4
"""Words named in a reason."""


def standing_segments(distilled: Distilled, most: int, price: Price) -> list[Segment]:
    """Make the message of the standing instructions, oldest first.

    If they take more than `most` tokens, the latest are sent with a note of how many are left out.
    """
    standing = [fact for fact in distilled.facts if fact.kind is FactKind.STANDING]
    kept, left = list[Fact](), most
    for fact in reversed(standing):
        left -= price(fact_line(fact, distilled))
        if left < 0:
            break
        kept.insert(0, fact)
    if not standing:
        return []
    missing = len(standing) - len(kept)
    lines = [fact_line(fact, distilled) for fact in kept]
    over = f"({missing:,} older standing instructions are left out.)\n" if missing else ""
    reason = reasons.STANDING
    if missing:
        reason = reasons.STANDING_LEFT_OUT.format(missing=missing, most=most)
    texts = [_STANDING + (lines[0] if lines else ""), *lines[1:]]
    texts[-1] += over
    texts = fence(free_tag("standing", texts), texts)
    costs = shares(texts, price)
    costs[0] += PER_MESSAGE
    sources = [source_in(distilled, fact.source) for fact in kept] or [None]
    return [
        Segment(Kind.STANDING, Role.USER, text, cost, None, reason, source=source)
        for text, cost, source in zip(texts, costs, sources, strict=True)
    ]


def fitting_facts(
    distilled: Distilled, draft: str, whole: Collection[int], most: int, price: Price
) -> tuple[Segment, ...]:
    """Choose facts that match a draft, best first, for `most` tokens at most.

    `whole` are the positions of turns that the window has at full text.
    """
    facts = [fact for fact in distilled.facts if fact.kind is not FactKind.STANDING]
    noted, left = list[Segment](), most
    for fact, reason in matching(facts, draft):
        source = source_in(distilled, fact.source)
        if is_of(source, whole):
            continue
        text = fact_line(fact, distilled) if noted else _FACTS + fact_line(fact, distilled)
        cost = price(text if noted else f"<facts>\n{text}</facts>\n")
        if cost <= left:
            left -= cost
            noted.append(noted_segment(Kind.FACTS, text, reason, source))
    return tuple(noted)


def matching(facts: Sequence[Fact], draft: str) -> Iterator[tuple[Fact, str]]:
    """Yield the facts that match a draft, best first, and how each matches."""
    for place, words in fitting([fact.text for fact in facts], draft):
        told = ", ".join(words[:_WORDS])
        yield facts[place], reasons.FACT.format(kind=facts[place].kind, words=told)


def is_of(source: Source | None, turns: Collection[int]) -> bool:
    """Whether a source is one of this conversation's turns at these positions."""
    return source is not None and not source.conversation and source.first in turns


def without_repeats(noted: Sequence[Segment], whole: Collection[int]) -> tuple[Segment, ...]:
    """Leave out facts whose turn of this conversation turned out to be sent at full text."""
    kept = [each for each in noted if not is_of(each.source, whole)]
    if kept and kept[0].kind is Kind.FACTS and not kept[0].text.startswith(_FACTS):
        kept[0] = replace(kept[0], text=_FACTS + kept[0].text)
    return tuple(kept)


def fitting(texts: Sequence[str], draft: str) -> Iterator[tuple[int, list[str]]]:
    """Rank texts that share words with a draft: yield index and shared words, later first in ties.

    The fewer of the texts have a word, the more it counts.
    """
    said, language = content_of(draft)
    wanted = {stem(word, language): word for word in said}
    stems_of = [_stems(text) for text in texts]
    having = Counter(root for stems in stems_of for root in stems if root in wanted)
    worth = {root: math.log(1 + len(texts) / count) for root, count in having.items()}
    scored = [
        (sum(worth[root] for root in stems & worth.keys()), place)
        for place, stems in enumerate(stems_of)
    ]
    best = max(scored, default=(0.0, 0))[0]
    for score, place in sorted(scored, key=lambda each: (-each[0], -each[1])):
        if not score or score < _WORTH * best:
            break
        shared = sorted(stems_of[place] & worth.keys(), key=lambda root: (-worth[root], root))
        yield place, [wanted[root] for root in shared]


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    said, language = content_of(text)
    return frozenset(stem(word, language) for word in said)


def fact_line(fact: Fact, distilled: Distilled) -> str:
    """Write a fact: `- The port is 9641. (2026-03-02) (chat-3 #12)`."""
    source = source_in(distilled, fact.source)
    return f"- {dated_statement(fact.text, fact.stated_on, source)}\n"


def source_in(distilled: Distilled, source: Source | None) -> Source | None:
    """Return a source without its conversation's id if that is the windows' own conversation."""
    if source is not None and source.conversation == distilled.conversation:
        return replace(source, conversation="")
    return source
