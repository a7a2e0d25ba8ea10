"""Read JSON and JSONL one value at a time: files can have any size, single values cannot.

A list is split at its brackets, and each of its values is parsed by the standard library's decoder:
this is faster than a streaming parser, and a damaged value does not affect the others. Limited are
a value's characters, the number of values in it, and the nesting depth.
"""

import codecs
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO

_YEARS = range(1900, 2201)
_MILLISECONDS = 100_000_000_000
"""From this number on, a timestamp is in milliseconds: as seconds, it would be the year 5138."""


def text(value: object) -> str:
    """Return a string; empty for anything else."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, object]:
    """Return an object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> Sequence[object]:
    """Return a list; empty for anything else."""
    return value if isinstance(value, list) else ()


def moment_of(value: object) -> datetime | None:
    """Convert ISO text or seconds since 1970 to an aware time; None for anything else."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    if moment.year not in _YEARS:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def moment_in_any_unit(value: object) -> datetime | None:
    """Convert like `moment_of`, also from milliseconds, which are recognized by their size."""
    if isinstance(value, int | float) and value >= _MILLISECONDS:
        return moment_of(value / 1000)
    return moment_of(value)


def as_json(value: object) -> str:
    """Return a value as JSON; `null` if it cannot be serialized."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "null"


def as_arguments(value: object) -> str:
    """Return the arguments of a tool call as a JSON object, whatever type they have."""
    if isinstance(value, str):
        written = value.strip()
        if not written or (written.startswith("{") and written.endswith("}")):
            return value
        return as_json({"input": value})
    if value is None:
        return ""
    return as_json(value if isinstance(value, dict) else {"input": value})


MAX_CHARACTERS = 64 << 20
"""Per value: one conversation, or one message of a plain list."""
MAX_VALUES = 3_000_000
"""Values within one value."""
MAX_DEPTH = 200
_CHUNK = 1 << 18
_BRACKET = re.compile(
    r'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL
)
"""Text up to the next bracket outside strings."""
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(r'[^\s,:\[\]{}"]++')
_INSIDE = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_BLANK = re.compile(r"[\s\ufeff]*+")


class NotJson(Exception):
    """The text is not JSON; `reason` is a clause to follow the file's name."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CutOff(NotJson):
    """The file ends in the middle of a value."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Represents a value that cannot be read."""

    reason: str
    line: int = 0
    """The line number, from 1; 0 if the value is not a line of JSONL."""


class JsonText:
    """A text file in any Unicode encoding, with a current position.

    Bytes that are not UTF-8 become lone surrogates, which are later repaired and counted per turn.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        head = file.read(_CHUNK)
        encoding = json.detect_encoding(head)
        lenient = "surrogateescape" if encoding.startswith("utf-8") else "replace"
        self._decoder = codecs.getincrementaldecoder(encoding)(lenient)
        self._text, self._at = self._decoder.decode(head), 0
        self._is_ended = not head

    def _more(self) -> bool:
        """Read more text, at least as much as is left in the buffer; False at the end."""
        if self._is_ended:
            return False
        data = self._file.read(max(_CHUNK, len(self._text) - self._at))
        self._is_ended = not data
        piece = self._decoder.decode(data, final=not data)
        self._text, self._at = self._text[self._at :] + piece, 0
        return bool(data or piece)

    def peek(self) -> str:
        """Skip blanks and return the next character without consuming it; empty at the end."""
        while True:
            match = _BLANK.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def items(self) -> Iterator[object]:
        """Read the values of the list at this point, one after the other."""
        for _ in self.places():
            yield self.value()

    def places(self) -> Iterator[str]:
        """Move to each value of the list at this point, and yield the value's first character.

        The caller must read each value before the next one is requested.
        """
        self._at += 1
        while (character := self.peek()) != "]":
            if character == ",":
                self._at += 1
            else:
                yield character
        self._at += 1

    def members(
        self, streamed: Collection[str], entered: Collection[str] = ()
    ) -> Iterator[tuple[str, object]]:
        """Read the members of the object at this point; some lists are yielded as iterators.

        A list under a name in `streamed` is an iterator over its `items`, one under a name in
        `entered` over its `places`. It must be exhausted before the next member is requested.
        """
        self._at += 1
        while (character := self.peek()) != "}":
            if character == ",":
                self._at += 1
                continue
            name = self.value()
            if not isinstance(name, str) or self.peek() != ":":
                raise NotJson("is not JSON: expected a name in an object")
            self._at += 1
            is_list = self.peek() == "["
            if is_list and name in entered:
                yield name, self.places()
            else:
                yield name, self.items() if is_list and name in streamed else self.value()
        self._at += 1

    def value(self) -> object:
        """Read the value at this point.

        Raises:
            NotJson: It is not valid, or the file ends within it.

        """
        character = self.peek()
        if not character:
            raise CutOff("is not JSON: it ends too early")
        if character in "[{":
            return self._container()
        pattern = _STRING if character == '"' else _SCALAR
        while True:
            match = pattern.match(self._text, self._at)
            is_whole = match is not None and (character == '"' or match.end() < len(self._text))
            if is_whole or len(self._text) - self._at > MAX_CHARACTERS or not self._more():
                break
        if match is None:
            raise (
                CutOff("is not JSON: it ends in the middle of a string")
                if character == '"'
                else (NotJson("is not JSON"))
            )
        self._at = match.end()
        found = decoded(match[0])
        if isinstance(found, Broken):
            raise NotJson("is not JSON")
        return found

    def _container(self) -> object:
        """Find the end of a list or an object by its brackets, and parse it."""
        pieces, kept, depth, deepest = list[str](), 0, 0, 0
        place = self._at
        while True:
            match = _BRACKET.match(self._text, place)
            if match is None:
                kept += self._keep(pieces, place, kept)
                kept += self._pass_on(deepest)
                place = self._at
                continue
            place = match.end()
            if match[1] in "[{":
                depth += 1
                deepest = max(deepest, depth)
            elif (depth := depth - 1) == 0:
                break
        kept += self._keep(pieces, place, kept)
        if deepest > MAX_DEPTH:
            return Broken("nested too deeply")
        if kept > MAX_CHARACTERS:
            return Broken(f"larger than {MAX_CHARACTERS >> 20} million characters")
        return decoded("".join(pieces))

    def _keep(self, pieces: list[str], place: int, kept: int) -> int:
        """Keep the text up to `place`, unless it is too long; return its length."""
        size = place - self._at
        if kept + size <= MAX_CHARACTERS:
            pieces.append(self._text[self._at : place])
        else:
            pieces.clear()
        self._at = place
        return size

    def _pass_on(self, deepest: int) -> int:
        """Read more text after none had a bracket; return how many characters were dropped."""
        if len(self._text) - self._at <= MAX_CHARACTERS:
            if self._more():
                return 0
            if deepest > MAX_DEPTH:
                raise NotJson("is nested too deeply")
            raise CutOff("is not JSON: it ends in the middle of a value")
        opened = self._text.find('"', self._at)
        self._at = opened + 1 if opened >= 0 else len(self._text)
        while opened >= 0:  # a string longer than the limit: skip to its end, keep nothing
            match = _INSIDE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._text[self._at : self._at + 1] == '"':
                self._at += 1
                break
            if not self._more():
                raise CutOff("is not JSON: it ends in the middle of a string")
        return MAX_CHARACTERS + 1

    def is_line_long(self) -> bool:
        """Whether the current line extends beyond what has been read of the file."""
        return self._text.find("\n", self._at) < 0 and self._more()

    def line(self) -> str | None:
        """Read a line without its line break; None if it is too long."""
        kept, pieces = 0, list[str]()
        while (end := self._text.find("\n", self._at)) < 0:
            kept += self._keep(pieces, len(self._text), kept)
            if not self._more():
                break
        else:
            kept += self._keep(pieces, end, kept)
            self._at += 1
        return "".join(pieces) if kept <= MAX_CHARACTERS else None

    def lines(self) -> Iterator[object]:
        """Read JSONL: one value per line; blank lines are skipped."""
        number = 0
        while self._at < len(self._text) or self._more():
            number += 1
            line = self.line()
            if line is None:
                yield Broken(f"larger than {MAX_CHARACTERS >> 20} million characters", number)
            elif line and not line.isspace():
                found = decoded(line.lstrip("\ufeff"))
                yield Broken(found.reason, number) if isinstance(found, Broken) else found


def decoded(text: str) -> object:
    """Parse one value; `Broken` if it is not valid JSON or exceeds a limit."""
    if max(text.count(","), text.count("[")) > MAX_VALUES:
        return Broken(f"larger than {MAX_VALUES:,} values")
    try:
        return _DECODER.decode(text)
    except RecursionError:
        return Broken("nested too deeply")
    except ValueError:
        return Broken("not JSON")


def _whole(digits: str) -> int | float:
    """Return an integer; infinity for one with thousands of digits, for which `int` raises."""
    return int(digits) if len(digits) < 20 else float(digits)


_DECODER = json.JSONDecoder(strict=False, parse_int=_whole)
