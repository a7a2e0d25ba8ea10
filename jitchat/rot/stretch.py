"""A stretch of talk about one thing: how it begins, goes on and ends."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace

from jitchat.rot.templates.scene import Move, Scene
from jitchat.rot.templates.wording import Exhausted, Wording
from jitchat.rot.theme import Theme

FEWEST, MOST = 4, 14
"""Exchanges in a stretch."""
_COMMON = 0.14
"""How often a scene is one that fits every subject."""
_CLOSED = 0.6
"""How often the user takes leave at the end."""
_TURNED = 0.4
"""How often the user says that the subject changes."""
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user says and what the assistant replies: two turns."""

    text: str
    reply: str


def stretch(theme: Theme, chance: Callable[[], float], said: Container[Exchange]) -> list[Exchange]:
    """Talk about a theme in exchanges that were not `said` before; none if there are too few."""
    wording = Wording(theme.vocabulary, chance)
    most = FEWEST + int(chance() * (MOST - FEWEST + 1))
    closing = wording.one_of(theme.closings) if theme.closings and chance() < _CLOSED else ()
    talk: list[Exchange] = []
    for scene in _thread(theme, wording, most):
        talk += _played(scene, wording, said, most - len(closing) - len(talk))
        if not talk:
            return []
    talk[0] = _turned(talk[0], wording)
    talk += _played(closing, wording, said, len(closing))
    return talk if len(talk) >= FEWEST else []


def _thread(theme: Theme, wording: Wording, most: int) -> Iterator[Scene]:
    """List enough scenes, or all there are: an opening, questions, and how it turned out."""
    yield wording.one_of(theme.openings)
    asked = list(_mixed(theme.asked, theme.common_asked, wording))
    told = list(_mixed(theme.told, theme.common_told, wording))
    early = int(most * (0.35 + 0.3 * wording.chance()))
    yield from asked[: max(early, most - len(told))]
    yield from told


def _mixed(own: tuple[Scene, ...], common: tuple[Scene, ...], wording: Wording) -> Iterator[Scene]:
    rest, others = list(own), list(common)
    while rest:
        source = others if others and wording.chance() < _COMMON else rest
        yield source.pop(int(wording.chance() * len(source)))


def _played(
    scene: Scene, wording: Wording, said: Container[Exchange], most: int
) -> Iterator[Exchange]:
    """Say a scene, at `most` so many exchanges of it, up to the first that cannot be said."""
    for move in scene[:most]:
        if (exchange := _new(move, wording, said)) is None:
            return
        yield exchange


def _new(move: Move, wording: Wording, said: Container[Exchange]) -> Exchange | None:
    """Say a move as it was not said before; None where that fails."""
    for _ in range(_TRIES):
        try:
            texts = move.said(wording)
        except Exhausted:
            continue
        if texts and (exchange := Exchange(*texts)) not in said:
            return exchange
    return None


def _turned(opening: Exchange, wording: Wording) -> Exchange:
    """Sometimes, say ahead of the opening that the subject changes."""
    if wording.chance() >= _TURNED or not wording.left("turn"):
        return opening
    return replace(opening, text=f"{wording.new('turn')} {opening.text}")
