"""What `jit` recalls from other conversations, in addition to turns of the open one.

Both share one allowance. Turns of other conversations get what the open one's turns leave of it. A
turn of the open conversation gives way only to one with a higher score, and only if both were
searched together; a turn that the user asked for never gives way. Each turn is quoted with the id
and the title of its conversation, under the same rules as recalled turns: a long one in passages.
"""

from dataclasses import dataclass

from jitchat.statements import Source
from jitchat.values import Elsewhere, ElsewhereHit
from jitchat.window import reasons
from jitchat.window.excerpt import Room, excerpt_of
from jitchat.window.recall import LEAST_EXCERPTED, LEAST_OF_EXCERPT, WHOLE, Allowance, Recall
from jitchat.window.render import Price, Quoting, marker, noted_segment, place_elsewhere
from jitchat.window.window import Excerpt, Kind, Segment
from jitchat.writing.calls import full_text, texts_of

_FENCE = "<elsewhere>\n</elsewhere>\n"


@dataclass(frozen=True, slots=True)
class CombinedRecall:
    """What is recalled from the open conversation and from others."""

    recalled: Recall
    noted: tuple[Segment, ...] = ()
    """Turns of other conversations, best first."""


def with_others(
    recalled: Recall, found: Elsewhere, allowance: Allowance, price: Price
) -> CombinedRecall:
    """Add turns of other conversations, best first, within the allowance."""
    if not found.hits:
        return CombinedRecall(recalled)
    quoting = Quoting([hit.turn for hit in found.hits])
    left = min(allowance.retrieved, allowance.room) - price(_FENCE) - _spent(recalled, price)
    noted, texts = list[Segment](), set[str]()
    for hit in found.hits:
        plain = " ".join(full_text(hit.turn).split())
        if plain in texts:
            continue
        most = max(LEAST_EXCERPTED, int(WHOLE * allowance.retrieved))
        made = _quoted(hit, quoting, found, most, price)
        cost = price(made.text)
        fitting, freed = _make_room(recalled, hit, found, cost - left, price)
        if cost <= left + freed:
            recalled, left = fitting, left + freed - cost
            noted.append(made)
            texts.add(plain)
    return CombinedRecall(recalled, tuple(noted))


def _spent(recalled: Recall, price: Price) -> int:
    return sum(price(piece.text) for piece in recalled.turns)


def _make_room(
    recalled: Recall, hit: ElsewhereHit, found: Elsewhere, missing: int, price: Price
) -> tuple[Recall, int]:
    """Drop weaker turns of the open conversation until `missing` tokens are free.

    Return what is left and how many tokens were freed.
    """
    if missing <= 0 or found.own_scores is None:
        return recalled, 0
    scores, before = dict(found.own_scores), _spent(recalled, price)
    freed = 0
    for piece in reversed(recalled.turns):
        turn = piece.turn
        if turn in recalled.requested or turn in recalled.brought_by:
            continue
        score = scores.get(turn, 0.0)
        if freed >= missing or score >= hit.score:
            break
        why = reasons.WEAKER_ELSEWHERE.format(distance=f"{hit.score - score:.2f}", place=hit.name)
        recalled = recalled.without(turn, why)
        freed = before - _spent(recalled, price)
    return recalled, freed


def _quoted(
    hit: ElsewhereHit, quoting: Quoting, found: Elsewhere, most: int, price: Price
) -> Segment:
    """Quote a turn, whole or in passages that cost no more than `most` tokens."""
    turn, excerpt = hit.turn, None
    place = place_elsewhere(hit.conversation, hit.title, turn.position)
    reason = reasons.ELSEWHERE.format(reason=hit.reason, title=hit.title)
    source = Source(turn.position, turn.position, hit.conversation)
    text = quoting.whole(turn, place)
    if price(text) > most:
        limit = most - price(quoting.excerpt(turn, Excerpt((), (0,)), place))
        texts = texts_of(turn)
        size = sum(map(len, texts))
        room = Room(max(LEAST_OF_EXCERPT, limit), price(marker(size, turn)))
        passages = excerpt_of(texts, found.terms, "", room, price)
        if any(passages.left_out):
            excerpt = passages
            text = quoting.excerpt(turn, passages, place)
    return noted_segment(Kind.RETRIEVED, text, reason, source, excerpt)
