"""JSON and JSONL, read a value at a time: a file may be of any size, its largest value may not.

A list is cut at its brackets, and each of its values is parsed by the standard library's decoder:
that is faster than a streaming parser, and a value that is damaged costs only itself. Bounded are
the letters of a value, the values in it, and how deep they are nested.
"""

import codecs
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import IO

MAX_LETTERS = 64 << 20
"""Of one value: one conversation, or one message of a plain list."""
MAX_VALUES = 3_000_000
"""In one value."""
MAX_DEPTH = 200
_CHUNK = 1 << 18
_BRACKET = re.compile(
    r'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+([\[\]{}])', re.DOTALL
)
"""Up to the next bracket that is in no string."""
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(r'[^\s,:\[\]{}"]++')
_INSIDE = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_BLANK = re.compile(r"[\s\ufeff]*+")


class NotJson(Exception):
    """What comes is no JSON: `reason`, as a clause behind the name of a file."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class CutOff(NotJson):
    """The file ends in the middle of a value."""


@dataclass(frozen=True, slots=True)
class Broken:
    """In place of a value that cannot be read."""

    reason: str
    line: int = 0
    """From 1; 0 for what is no line of JSONL."""


class JsonText:
    """A file of text in whichever encoding of Unicode, with a place in it.

    Bytes that are no UTF-8 become lone surrogates, which are repaired, and counted, turn by turn.
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
        """Read on, at least as much as there is; False at the end."""
        if self._is_ended:
            return False
        data = self._file.read(max(_CHUNK, len(self._text) - self._at))
        self._is_ended = not data
        piece = self._decoder.decode(data, final=not data)
        self._text, self._at = self._text[self._at :] + piece, 0
        return bool(data or piece)

    def peek(self) -> str:
        """Pass over blanks, and look at the character that follows; empty at the end."""
        while True:
            match = _BLANK.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def items(self) -> Iterator[object]:
        """Read the values of the list that is here, one after the other."""
        for _ in self.places():
            yield self.value()

    def places(self) -> Iterator[str]:
        """Go to each value of the list that is here; it has to be read before the next one.

        Gives the character with which the value begins.
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
        """Read the object that is here; a list under some names is an iterator.

        In `streamed` are the names of those whose `items` it reads, in `entered` of those to whose
        `places` it goes. It has to be exhausted before the next member is asked for.
        """
        self._at += 1
        while (character := self.peek()) != "}":
            if character == ",":
                self._at += 1
                continue
            name = self.value()
            if not isinstance(name, str) or self.peek() != ":":
                raise NotJson("is not JSON: a name is expected in an object")
            self._at += 1
            is_list = self.peek() == "["
            if is_list and name in entered:
                yield name, self.places()
            else:
                yield name, self.items() if is_list and name in streamed else self.value()
        self._at += 1

    def value(self) -> object:
        """Read the value that is here.

        Raises:
            NotJson: It is none, or the file ends in it.

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
            if is_whole or len(self._text) - self._at > MAX_LETTERS or not self._more():
                break
        if match is None:
            raise (
                CutOff("is not JSON: it ends in the middle of a text")
                if character == '"'
                else (NotJson("is not JSON"))
            )
        self._at = match.end()
        found = decoded(match[0])
        if isinstance(found, Broken):
            raise NotJson("is not JSON")
        return found

    def _container(self) -> object:
        """Cut a list or an object at its brackets, and parse it."""
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
        if kept > MAX_LETTERS:
            return Broken(f"larger than {MAX_LETTERS >> 20} million letters")
        return decoded("".join(pieces))

    def _keep(self, pieces: list[str], place: int, kept: int) -> int:
        """Put aside what was passed, unless that is too much; how many letters it is."""
        size = place - self._at
        if kept + size <= MAX_LETTERS:
            pieces.append(self._text[self._at : place])
        else:
            pieces.clear()
        self._at = place
        return size

    def _pass_on(self, deepest: int) -> int:
        """Get more of the text in which no bracket was found; how much of it was dropped."""
        if len(self._text) - self._at <= MAX_LETTERS:
            if self._more():
                return 0
            if deepest > MAX_DEPTH:
                raise NotJson("is nested too deeply")
            raise CutOff("is not JSON: it ends in the middle of a value")
        opened = self._text.find('"', self._at)
        self._at = opened + 1 if opened >= 0 else len(self._text)
        while opened >= 0:  # a text longer than any value may be: to its end, keeping nothing
            match = _INSIDE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._text[self._at : self._at + 1] == '"':
                self._at += 1
                break
            if not self._more():
                raise CutOff("is not JSON: it ends in the middle of a text")
        return MAX_LETTERS + 1

    def is_line_long(self) -> bool:
        """Whether the line that is here does not end within the part of the file that was read."""
        return self._text.find("\n", self._at) < 0 and self._more()

    def line(self) -> str | None:
        """Read a line without its end; None for one that is too long, or holds too much."""
        kept, pieces = 0, list[str]()
        while (end := self._text.find("\n", self._at)) < 0:
            kept += self._keep(pieces, len(self._text), kept)
            if not self._more():
                break
        else:
            kept += self._keep(pieces, end, kept)
            self._at += 1
        return "".join(pieces) if kept <= MAX_LETTERS else None

    def lines(self) -> Iterator[object]:
        """Read JSONL: a value a line, blank ones left out."""
        number = 0
        while self._at < len(self._text) or self._more():
            number += 1
            line = self.line()
            if line is None:
                yield Broken(f"larger than {MAX_LETTERS >> 20} million letters", number)
            elif line and not line.isspace():
                found = decoded(line.lstrip("\ufeff"))
                yield Broken(found.reason, number) if isinstance(found, Broken) else found


def decoded(text: str) -> object:
    """Parse one value; `Broken` where it is none, or there is no room for it."""
    if max(text.count(","), text.count("[")) > MAX_VALUES:
        return Broken(f"larger than {MAX_VALUES:,} values")
    try:
        return _DECODER.decode(text)
    except RecursionError:
        return Broken("nested too deeply")
    except ValueError:
        return Broken("not JSON")


def _whole(digits: str) -> int | float:
    """Let a number of thousands of digits be infinite, where `int` raises."""
    return int(digits) if len(digits) < 20 else float(digits)


_DECODER = json.JSONDecoder(strict=False, parse_int=_whole)
