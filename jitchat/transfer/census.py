"""Account for every string of a source: it is stored, left out and counted, or excluded.

A format lists in `keys/NAME.toml` the keys whose strings are not compared, with the reason, and
those whose strings are left out, under the name that the report gives them. Every other string
must be in a turn, in a file or in a field of its conversation, or in what the importer skipped.
What is in none of these places is counted under its key, so that no text is lost silently.
"""

import re
import tomllib
from base64 import b64decode
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache
from html import unescape
from importlib.resources import files
from itertools import islice

from jitchat.attachments import digest_of_bytes
from jitchat.text.sanitize import repair
from jitchat.transfer.json_text import Broken, decoded

_WINDOW = 10_000
"""Stored texts that are compared at once: a conversation of 3,000 turns has about as many."""
_DEEPEST = 5
"""How often a text is split: JSON in an attribute of HTML in JSON takes three."""
_AMBIGUOUS = 24
"""Characters; a shorter text must stand between word boundaries, since it may be part of a word."""
_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
_LINE = re.compile(r"\s*(?:>\s?)*")
"""What precedes the text of a quoted line."""
_BASE64 = re.compile(
    r"(?:data:[^,]{0,200};base64,|(?=[A-Za-z0-9+/]{64}))([A-Za-z0-9+/]++={0,2})\s*"
)
"""Bytes in a data URL; without an address, only if they are too many for a word."""


class Place(StrEnum):
    """Where a string of the source is."""

    TURNS = "turns"
    FILES = "files"
    FIELDS = "fields"
    TALLY = "tally"
    EXCLUDED = "excluded"
    NOWHERE = "nowhere"


_STORED = (Place.TURNS, Place.FILES, Place.FIELDS)
Texts = Iterable[tuple[Place, str]]
"""Texts that are stored, each with its place; a file's bytes are there as their digest."""
_Strings = list[tuple[str, str]]
"""Strings of the source, each after its key."""


@dataclass(frozen=True, eq=False)
class Rules:
    """What is known of a format's keys. A key is a name, or a name after its parent's: `a.b`."""

    excluded: Mapping[str, str]
    """Reasons by key; they also hold for what is below the key and is not listed itself."""
    left_out: Mapping[str, str]
    """Names for the report, by key: `exit code`. Used for strings that are not stored."""
    keyed: frozenset[str]
    """Keys of objects whose own keys are ids: `a` is the object, `a[]` a value in it."""
    parts: re.Pattern[str]
    """Matches parts of texts that are not compared: references, labels of the program."""


NO_RULES = Rules({}, {}, frozenset(), re.compile("(?!)"))


@lru_cache(maxsize=1 << 14)
def key_of(rules: Rules, parent: str, name: str) -> tuple[str, str]:
    """Return the key of a name in an object, and the form in which it is listed, if it is."""
    if not rules.keyed.isdisjoint((parent, parent.rpartition(".")[2])):
        return f"{parent}[]", ""
    path = [part for part in (*parent.split("."), name) if part]
    keys = [".".join(path[-length:]) for length in (3, 2, 1)]
    listed = next((key for key in keys if key in rules.excluded or key in rules.left_out), "")
    return keys[1], listed


@cache
def rules_of(form: str) -> Rules:
    """Read a format's rules; if it has none, its sources are not compared."""
    file = files(__package__) / "keys" / f"{form}.toml"
    if not file.is_file():
        return NO_RULES
    read = tomllib.loads(file.read_text("utf-8"))
    by_key = [
        {key: reason for reason, keys in read.get(table, {}).items() for key in keys}
        for table in ("excluded", "left_out")
    ]
    keyed = frozenset(read.get("keyed", ()))
    parts = [part for listed in read.get("parts", {}).values() for part in listed]
    return Rules(by_key[0], by_key[1], keyed, re.compile("|".join(parts) or "(?!)"))


@dataclass(slots=True)
class Census:
    """Compares the strings of one conversation's source with what is stored of it."""

    rules: Rules
    counts: Counter[tuple[str, Place]] = field(default_factory=Counter)
    """Numbers of strings, by key and place."""
    examples: list[tuple[str, str]] = field(default_factory=list)
    """The strings that are nowhere, after their keys."""
    _fresh: _Strings = field(default_factory=list)
    """Strings that were not compared yet."""
    _late: _Strings = field(default_factory=list)
    """Strings that were not in the turns that were read with them."""

    def read(self, value: object) -> None:
        """Add all strings of a value that was read from the source."""
        if self.rules is NO_RULES:
            return
        for key, listed, text in strings_by_key(value, self.rules):
            if listed in self.rules.excluded:
                self.counts[listed, Place.EXCLUDED] += 1
            else:
                self._fresh.append((listed or key, text))

    def settle(self, turns: Texts) -> None:
        """Find what was read in the turns since the last call, so that little is held in memory."""
        stored = _Stored(turns, (), self.rules)
        self._late += self._missing(self._fresh, stored)
        self._fresh = []

    def compare(self, stored: Texts, skipped: Collection[str]) -> Counter[str]:
        """Find all strings in the stored texts, or in those that the importer `skipped`.

        Return how often what is left out of the source, as the report calls it.
        """
        left_out = Counter[str]()
        texts = iter(stored)
        rest = [*self._late, *self._fresh]
        while window := list(islice(texts, _WINDOW if rest else 0)):
            rest = self._missing(rest, _Stored(window, skipped, self.rules))
        for key, text in self._missing(rest, _Stored((), skipped, self.rules)):
            name = self.rules.left_out.get(key)
            left_out[name or f"text that is under {key}"] += 1
            self.counts[key, Place.TALLY if name else Place.NOWHERE] += 1
            if not name:
                self.examples.append((key, text))
        return left_out

    def _missing(self, strings: _Strings, stored: "_Stored") -> _Strings:
        """Count the strings that are stored; return the others."""
        others: _Strings = []
        for key, text in strings:
            place = stored.place_of(text)
            if place is None:
                others.append((key, text))
            else:
                self.counts[key, place] += 1
        return others


class _Stored:
    """The stored texts of a conversation, to be searched."""

    def __init__(self, stored: Texts, skipped: Collection[str], rules: Rules) -> None:
        lists: dict[Place, list[str]] = {place: [] for place in _STORED}
        self._whole: dict[str, Place] = {}
        for place, text in stored:
            part = plain(text)
            lists[place].append(part)
            self._whole[part] = place
        self._joined = {place: "\0".join(texts) for place, texts in lists.items()}
        self._skipped, self._rules = skipped, rules
        self._places: dict[str, Place | None] = {}

    def place_of(self, text: str, depth: int = 0) -> Place | None:
        """Return where a text is: as a whole, or else in parts; None if it is nowhere."""
        whole = plain(text)
        if whole not in self._places:
            self._places[whole] = self._place_of_whole(whole) or self._place_of_parts(text, depth)
        return self._places[whole]

    def _place_of_whole(self, whole: str) -> Place | None:
        stored = self._whole.get(_digest_of(whole))
        if stored is not None:
            return stored
        for place in _STORED:
            if _contains(self._joined[place], whole):
                return place
        if whole in self._skipped:
            return Place.TALLY
        return Place.EXCLUDED if self._rules.parts.fullmatch(whole) else None

    def _place_of_parts(self, text: str, depth: int) -> Place | None:
        if depth == _DEEPEST:
            return None
        parts = [part for part in _parts_of(text) if any(character.isalnum() for character in part)]
        places = [self.place_of(part, depth + 1) for part in parts if part != text]
        if len(places) < len(parts):
            return None
        return next((place for place in (None, *Place) if place in places), None)


def strings_by_key(value: object, rules: Rules) -> Iterator[tuple[str, str, str]]:
    """Yield the key, the listed key or an empty one, and the text of every string."""
    waiting: list[tuple[object, str, str]] = [(value, "", "")]
    while waiting:
        value, key, listed = waiting.pop()
        if isinstance(value, str) and value.strip():
            yield key, listed, value
        elif isinstance(value, bytes) and value:
            yield key, listed, digest_of_bytes(value)
        elif isinstance(value, list | tuple):
            waiting += [(inner, key, listed) for inner in reversed(value)]
        elif isinstance(value, dict):
            for name, inner in reversed(list(value.items())):
                inner_key, inner_listed = key_of(rules, key, name)
                waiting.append((inner, inner_key, inner_listed or listed))


def strings_of(*values: object) -> Iterator[str]:
    """Yield every string in values that has more than white space."""
    return (text for _, _, text in strings_by_key(values, NO_RULES))


def plain(text: str) -> str:
    """Return a text in the form in which it is compared: each run of white space is one space."""
    return " ".join(repair(text).split())


def _contains(texts: str, text: str) -> bool:
    at = texts.find(text)
    while at >= 0 and len(text) < _AMBIGUOUS:
        around = texts[max(0, at - 1) : at] + texts[at + len(text) : at + len(text) + 1]
        if not any(character.isalnum() for character in around):
            break
        at = texts.find(text, at + 1)
    return at >= 0


def _parts_of(text: str) -> Iterator[str]:
    """Split a text that is JSON, has markup, or has several lines; else yield it unchanged."""
    begun = text.lstrip()[:1]
    value = decoded(text) if begun and begun in '{["' else text
    if value != text and not isinstance(value, Broken):
        yield from strings_of(value)
    elif _markup()[0].search(text):
        pattern, layout = _markup()
        yield from (unescape(part) for part in pattern.split(text))
        for tag in pattern.findall(text):
            found = _ATTRIBUTE.findall(tag)
            yield from (unescape(one or other) for name, one, other in found if name not in layout)
    elif unescape(text) != text:
        yield unescape(text)
    else:
        for line in text.splitlines():
            yield _LINE.sub("", line, count=1)


@cache
def _markup() -> tuple[re.Pattern[str], frozenset[str]]:
    """Return what divides a text, and the attributes that only lay out a page.

    A text is divided by HTML tags and by the private characters with which ChatGPT marks spans.
    """
    read = tomllib.loads((files(__package__) / "keys" / "markup.toml").read_text("utf-8"))
    names = "|".join(read["elements"].split())
    tag = rf"<!--|-->|</?(?:{names})\b[^<>]*+>|[\ue200-\ue206]"
    return re.compile(tag, re.IGNORECASE), frozenset(read["attributes"].split())


def _digest_of(text: str) -> str:
    """Return the digest of the bytes that a text encodes; if it is not base64, the text."""
    with suppress(ValueError):
        if match := _BASE64.fullmatch(text):
            return digest_of_bytes(b64decode(match[1]))
    return text
