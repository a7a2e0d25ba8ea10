"""What is being worked on: the code, text, table or file that a message is about.

An artefact is a message with a shape of its own (code, a configuration, a table, a list, a log), a
long one, or an attached file. The latest of each kind is still worked on until more than `_STAYS`
exchanges in a row refer to nothing of its kind. A message that refers to something made before
("make it async", "the second row") brings what it is about, however long ago that was: chosen by
the kind that its words imply, the words in common, and how recent it is.

A version that has most pairs of words of an earlier one replaces it. Only the last turns are read,
in time linear in their text, and each text is described once.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import chain, pairwise
from math import log2

from jitchat.attachments import Attachment
from jitchat.text.expressions import data
from jitchat.text.follow_up import FollowUp, follow_up_of
from jitchat.values import Role, Turn
from jitchat.window.history import History

_LOOKED_AT = 200
"""The last turns of a conversation, in which artefacts are looked for."""
_STAYS = 3
"""Exchanges of other talk in a row during which an artefact is still worked on."""
_STAYS_FOR_GENERAL = 1
"""The same, for a message that is about nothing earlier."""
_MADE = 1
"""The least worth of an artefact that is worked on without a message that refers to it."""
_MOST = 2
"""Maximum artefacts that a message brings."""
_SECOND = 0.4
"""The least share of the best score that a second artefact has."""
_LONG = 420
"""The least size of a text without a shape, in Latin letters."""
_SHAPED = 150
"""The least size of what has a shape."""
_WIDER = 1.5
"""What a Chinese, Japanese or Korean character says more than a Latin letter."""
_READ = 6_000
"""Characters of a text that are read."""
_SAME = 0.5
"""The least share of an earlier version's pairs of words that a version has."""
_SAME_NEXT = 0.4
"""The same, for versions in consecutive exchanges."""
_SAME_OF_NEW = 0.35
"""The least share of a version's pairs that the earlier one has: a longer text has many."""
_VERSIONS = 6
"""The latest artefacts, among which the earlier versions are looked for."""


class ArtefactKind(StrEnum):
    CODE = "code"
    CONFIGURATION = "configuration"
    TABLE = "table"
    LIST = "list"
    FIGURES = "figures"
    LOG = "log"
    PROSE = "text"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Artefact:
    turn: int
    """The position of the turn that has it, or that the file is attached to."""
    kind: ArtefactKind
    reason: str
    """A noun phrase: `the code that is being worked on`."""
    replaces: tuple[int, ...] = ()
    """The positions of its earlier versions, ascending; they are named and not sent."""


def worked_on(
    history: History, draft: str, files: Sequence[Attachment], *, is_found: bool = False
) -> tuple[Artefact, ...]:
    """List the artefacts that a draft needs, best first, at most `_MOST`.

    `files` are those attached in the conversation. If something `is_found` for the draft, only
    what it clearly refers to is needed.
    """
    turns = history.turns[-_LOOKED_AT:]
    asked = [turn.content for turn in turns if turn.role is Role.USER]
    made = _latest(_all_made(turns, files))
    follow_up = follow_up_of(draft)
    kept = [candidate for candidate in made if candidate.name]
    named = [candidate for candidate in kept if candidate.name.lower() in draft.lower()]
    if is_found and not (follow_up.is_clear or named):
        return ()
    live = _live(made, asked, _STAYS_FOR_GENERAL if follow_up.is_general else _STAYS)
    scores = _scores(made, follow_up, len(asked))
    known = made if follow_up.refers else live
    wanted = named or sorted(known, key=lambda candidate: scores[candidate], reverse=True)
    return tuple(
        _artefact(candidate, follow_up, is_live=candidate in live)
        for candidate in wanted[:_MOST]
        if scores[candidate] >= _SECOND * scores[wanted[0]]
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Shape:
    """What a text is; compared by identity, since each text is described once."""

    kind: ArtefactKind
    """The kind that it fits best."""
    fits: dict[ArtefactKind, float]
    """How well it fits each kind, from 0 to 1."""
    pairs: frozenset[tuple[str, str]]
    """Of consecutive words: texts on one subject have many words in common, versions also these."""
    is_titled: bool = False
    """Whether it has a heading, or begins like a letter."""


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """An artefact where it stands."""

    turn: int
    exchange: int
    """The number of its exchange, from 1, among those that are looked at."""
    shape: _Shape
    text: str
    """In lower case, after the message that asked for it."""
    worth: float
    """The likelihood that it is a thing that was asked for, and not an explanation."""
    name: str = ""
    """Of a file."""
    is_revision: bool = False
    """Whether the user pasted it, or asked for it by a message that refers to something made
    before."""
    replaces: tuple[int, ...] = ()


def _artefact(made: _Made, follow_up: FollowUp, *, is_live: bool) -> Artefact:
    """Say why an artefact is needed."""
    implied = [ArtefactKind(kind) for kind in follow_up.kinds]
    fitting = [kind for kind in implied if made.shape.fits.get(kind)]
    kind = max(fitting, key=lambda kind: made.shape.fits[kind], default=made.shape.kind)
    why = "is being worked on" if is_live else "the message is about"
    return Artefact(made.turn, kind, f"the {kind.value} that {why}", made.replaces)


def _all_made(turns: Sequence[Turn], files: Sequence[Attachment]) -> Iterator[_Made]:
    """Yield all artefacts, in order."""
    exchange = 0
    request = ""
    for turn in turns:
        if turn.role is Role.USER:
            exchange += 1
            request = turn.content[:_READ]
        content = turn.content[:_READ] if turn.role in (Role.USER, Role.ASSISTANT) else ""
        shape = _shape_of(content)
        if shape:
            asked = follow_up_of(request)
            text = f"{request}\n{content}".lower()
            is_prose = shape.kind is ArtefactKind.PROSE
            is_pasted = turn.role is Role.USER and not is_prose
            is_revision = is_pasted or (turn.role is Role.ASSISTANT and asked.refers)
            yield _Made(
                turn.position, exchange, shape, text, _worth(shape, asked), is_revision=is_revision
            )
        for file in files:
            if file.turn == turn.position:
                head = file.parts[0].text[:_READ] if file.parts else ""
                shape = _Shape(ArtefactKind.FILE, _FITS_OF_A_FILE, frozenset[tuple[str, str]]())
                text = f"{request}\n{file.name}\n{head}".lower()
                yield _Made(turn.position, exchange, shape, text, _MOST_WORTH, name=file.name)


_HARD = (ArtefactKind.CODE, ArtefactKind.CONFIGURATION, ArtefactKind.TABLE, ArtefactKind.LOG)
"""Kinds that explanations seldom have."""
_FITS_OF_A_FILE = dict.fromkeys(ArtefactKind, 0.5) | {ArtefactKind.FILE: 1.0}
_MOST_WORTH = 2.0


def _worth(shape: _Shape, request: FollowUp) -> float:
    """Judge whether a reply is a thing that was asked for, or an explanation."""
    worth = 3 * max(shape.fits.get(kind, 0.0) for kind in _HARD)
    worth += 2 * _fit(shape, request, otherwise=0.0) + request.refers
    return min(worth + shape.is_titled - 2 * request.is_general, _MOST_WORTH)


def _latest(made: Iterable[_Made]) -> list[_Made]:
    """Leave out earlier versions."""
    latest: list[_Made] = []
    for candidate in made:
        earlier = [old for old in latest[-_VERSIONS:] if _is_version(candidate, old)]
        places = {place for old in earlier for place in (*old.replaces, old.turn)}
        latest = [old for old in latest if old not in earlier]
        latest.append(replace(candidate, replaces=tuple(sorted(places - {candidate.turn}))))
    return latest


def _is_version(new: _Made, old: _Made) -> bool:
    if not new.is_revision:
        return False
    same = _SAME_NEXT if new.exchange == old.exchange + 1 else _SAME
    common = _common(new.shape, old.shape)
    is_as_large = common >= _SAME_OF_NEW * len(new.shape.pairs)
    return is_as_large and common >= same * len(old.shape.pairs)


@lru_cache(maxsize=1 << 12)
def _common(new: _Shape, old: _Shape) -> int:
    return len(new.pairs & old.pairs)


def _live(made: Sequence[_Made], asked: Sequence[str], stays: int) -> list[_Made]:
    """List the latest artefacts of each kind that are still worked on after `stays` exchanges."""
    latest = {candidate.shape.kind: candidate for candidate in made if candidate.worth >= _MADE}
    return [candidate for candidate in latest.values() if _untouched(candidate, asked) <= stays]


def _untouched(made: _Made, asked: Sequence[str]) -> int:
    """Count the last exchanges, at most `_STAYS` + 1, that refer to nothing of the kind."""
    since = 0
    for message in asked[made.exchange :]:
        follow_up = follow_up_of(message)
        is_about = follow_up.is_clear and _fit(made.shape, follow_up) > 0
        since = 0 if is_about else since + 1
        if since > _STAYS:
            break
    return since


def _fit(shape: _Shape, follow_up: FollowUp, otherwise: float = 0.5) -> float:
    """Return how well an artefact fits the kinds that a message implies, from 0 to 1."""
    kinds = [ArtefactKind(kind) for kind in follow_up.kinds]
    return max((shape.fits.get(kind, 0.0) for kind in kinds), default=otherwise)


_FIT = 2.0
"""The weight of a kind that fits in full."""
_WORD = 0.2
"""The weight of the words in common, by bit: the rarer a word among artefacts, the more."""
_MOST_BITS = 6.0
_RECENT = 3.0
"""The weight of what was made last; halved after every `_HALF` exchanges."""
_HALF = 2.5


def _scores(made: Sequence[_Made], follow_up: FollowUp, now: int) -> dict[_Made, float]:
    """Score artefacts for a message in exchange `now`."""
    found = [[term for term in follow_up.terms if term in candidate.text] for candidate in made]
    having = Counter(chain.from_iterable(found))
    bits = {term: log2(1 + len(made) / count) for term, count in having.items()}
    scores: dict[_Made, float] = {}
    for candidate, terms in zip(made, found, strict=True):
        recent = _RECENT * 0.5 ** ((now - candidate.exchange) / _HALF)
        words = sum(bits[term] for term in terms)
        fit = _FIT * _fit(candidate.shape, follow_up)
        scores[candidate] = candidate.worth + recent + fit + _WORD * min(words, _MOST_BITS)
    return scores


_FENCE = re.compile(r"[ \t]{0,12}(?:```|~~~)[ \t]{0,4}([\w+#-]*)")
_ROW = re.compile(r"[ \t]{0,12}\|[^|]*\|")
_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t]")
_LOGGED = re.compile(
    r"[ \t]{0,12}(?:\[?(?:\d{4}-\d\d-\d\d[T ]|\d\d:)\d\d:\d\d|Traceback|\w{1,40}Error\b|ERROR)"
)
_IN_CODE = {ArtefactKind.LOG: _LOGGED}
_IN_TEXT = _IN_CODE | {ArtefactKind.TABLE: _ROW, ArtefactKind.LIST: _ITEM}
_ENOUGH = 3.0
"""A text fits a kind in full from the inverse of this share on."""
_DIGITS = 0.08
"""The share of digits from which a text has figures."""
_TITLED = re.compile(
    r"(?m)^#{1,4} |^\*\*[^*\n]+\*\*:?$|^(?:Subject|Betreff|Objet|Oggetto|Asunto|Assunto|件名|Dear)"
)
_TOKEN = re.compile(r"\w+")
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")


@lru_cache(maxsize=1 << 10)
def _shape_of(text: str) -> _Shape | None:
    sizes = Counter[ArtefactKind]()
    fenced = None
    for line in text.splitlines():
        if fence := _FENCE.match(line):
            is_configuration = fence[1].lower() in data("artefacts")["configuration_languages"]
            kind = ArtefactKind.CONFIGURATION if is_configuration else ArtefactKind.CODE
            fenced = None if fenced else kind
            continue
        size = len(line) + int(_WIDER * len(_WIDE.findall(line)))
        sizes[_kind_of_line(line, fenced)] += size
    total = sizes.total()
    shaped = total - sizes.pop(ArtefactKind.PROSE, 0)
    if total < _LONG and shaped < _SHAPED:
        return None
    fits = {kind: min(1.0, _ENOUGH * size / total) for kind, size in sizes.items()}
    fits[ArtefactKind.PROSE] = max(0.0, 1 - 2 * shaped / total)
    main = max(fits, key=lambda kind: fits[kind])
    if sum(character.isdigit() for character in text) > _DIGITS * total:
        fits[ArtefactKind.FIGURES] = 1 - fits[ArtefactKind.PROSE]
    said = _TOKEN.findall(text.lower())
    return _Shape(main, fits, frozenset(pairwise(said)), bool(_TITLED.search(text)))


def _kind_of_line(line: str, fenced: ArtefactKind | None) -> ArtefactKind:
    patterns = _IN_CODE if fenced else _IN_TEXT
    found = (kind for kind, pattern in patterns.items() if pattern.match(line))
    return next(found, fenced or ArtefactKind.PROSE)
