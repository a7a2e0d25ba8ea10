"""Generates talk that looks like chats with a model, the same for the same seed.

The user asks how to do something, with follow-up questions; the assistant answers in 200 to 500
words, with paragraphs, a list and a fenced code block. The texts about each subject are in
data/long, in fragments that fit together in any order. A fragment with an avoided word is left
out, and so is a subject with too few fragments left; if none is left, `filler` is the fallback.
"""

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from importlib.resources import files
from itertools import islice
from string import Template

from jitchat.lab.filler import Draw, Exchange, exchanges
from jitchat.text.words import stems

_Pieces = Mapping[str, Sequence[str]]

_DATA = files(__package__) / "data" / "long"
_NAMES = ("noun", "other", "verb")
_MOST_ASKED = 4
"""Maximum consecutive questions about one subject."""
_SENTENCES, _POINTS = (7, 10), (4, 6)
"""Minimum and maximum of an answer."""
_PLACES = frozenset(str(place) for place in range(1, _POINTS[1] + 1))
_NUMBERS = (3, 60)
_TRIES = 8
_SHORT = 20
"""Exchanges of short talk at a time when it is the fallback."""


def long_exchanges(seed: str, avoided: Set[str]) -> Iterator[Exchange]:
    """Yield exchanges forever, without words whose `jitchat.text.words.stems` are `avoided`."""
    draw = Draw(random.Random(seed).random)  # noqa: S311  not for secrets
    said: set[str] = set()
    short = exchanges(f"{seed} short", avoided)
    while True:
        is_mute = True
        for subject in draw.some(sorted(_subjects()), len(_subjects())):
            for exchange in _stretch(_subjects()[subject], draw, avoided):
                if exchange.reply not in said:
                    said.add(exchange.reply)
                    is_mute = False
                    yield exchange
        if is_mute:
            yield from islice(short, _SHORT)


@cache
def _subjects() -> Mapping[str, _Pieces]:
    read = {
        each.name.removesuffix(".toml"): tomllib.loads(each.read_text("utf-8"))
        for each in _DATA.iterdir()
    }
    common = read.pop("common")
    return {
        name: {part: [*common.get(part, ()), *own.get(part, ())] for part in common | own}
        for name, own in read.items()
    }


def _stretch(pieces: _Pieces, draw: Draw, avoided: Set[str]) -> Iterator[Exchange]:
    """Yield some exchanges about a subject; none if too few fragments can be used."""
    for _ in range(_TRIES):
        names = {name: draw.one_of(pieces[name]) for name in _NAMES}
        if avoided.isdisjoint(stems(" ".join(names.values()))):
            break
    else:
        return
    asked = "asks"
    for _ in range(draw.number(1, _MOST_ASKED)):
        numbers = {name: str(draw.number(*_NUMBERS)) for name in ("n", "m")}
        words = {**names, **numbers, "Noun": names["noun"].capitalize()}
        left = {
            part: list(_sayable(pieces[part], words, avoided))
            for part in ("asks", "followups", "intros", "sentences", "points", "code", "closings")
        }
        if not left[asked] or not _is_enough(left):
            return
        is_numbered = draw.number(0, 1) == 1 and _PLACES.isdisjoint(avoided)
        yield Exchange(draw.one_of(left[asked]), _answer(left, draw, is_numbered=is_numbered))
        asked = "followups"


def _sayable(texts: Sequence[str], words: Mapping[str, str], avoided: Set[str]) -> Iterator[str]:
    for text in texts:
        written = Template(text).substitute(words).strip()
        if avoided.isdisjoint(stems(written)):
            yield written


def _is_enough(left: _Pieces) -> bool:
    is_whole = all(left[part] for part in ("intros", "code", "closings"))
    least = len(left["sentences"]) >= _SENTENCES[0] and len(left["points"]) >= _POINTS[0]
    return is_whole and least


def _answer(left: _Pieces, draw: Draw, *, is_numbered: bool) -> str:
    sentences = draw.some(left["sentences"], draw.number(*_SENTENCES))
    points = draw.some(left["points"], draw.number(*_POINTS))
    middle = len(sentences) // 2
    listed = (f"{n}. {point}" if is_numbered else f"- {point}" for n, point in enumerate(points, 1))
    parts = (
        " ".join((draw.one_of(left["intros"]), *sentences[:middle])),
        "\n".join(listed),
        *draw.some(left["code"], draw.number(1, 2)),
        " ".join((*sentences[middle:], draw.one_of(left["closings"]))),
    )
    return "\n\n".join(parts)
