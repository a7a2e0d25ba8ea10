"""An import format: how a file is recognized, and how its values are read."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import islice
from pathlib import Path

from jitchat.transfer.incoming import IncomingConversation, Tally
from jitchat.transfer.json_text import Broken, CutOff, JsonText, NotJson, mapping
from jitchat.transfer.source import Source, SourceFile, foreign_errors, open_read_only, tables_of

Environment = Mapping[str, str]
STREAMED = ("conversations", "messages", "turns")
"""Names of lists that can have any length."""
_ITEMS = 5
_LINES = 200


class Shape(Enum):
    LIST = auto()
    """One JSON list."""
    OBJECT = auto()
    """One JSON object, on one line or several."""
    LINES = auto()
    """JSONL."""
    DATABASE = auto()
    """SQLite."""


@dataclass(frozen=True, slots=True)
class Sample:
    shape: Shape
    objects: tuple[Mapping[str, object], ...] = ()
    """The objects among the first items of a list or the first lines; or the one object, cut off
    within its first long list if it is large."""
    tables: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The columns of each table of a database."""

    @property
    def items(self) -> tuple[Mapping[str, object], ...]:
        """The first items of a list, or the one object as the only item."""
        return self.objects if self.shape in (Shape.LIST, Shape.OBJECT) else ()

    @property
    def lines(self) -> tuple[Mapping[str, object], ...]:
        """The first lines; a single line is one object."""
        return self.objects if self.shape in (Shape.LINES, Shape.OBJECT) else ()

    def member(self, *names: str) -> Mapping[str, object]:
        """The first object in a list that the one object has under one of `names`; or empty."""
        whole = self.objects[0] if self.shape is Shape.OBJECT and self.objects else {}
        found = (value for name in names if isinstance(value := whole.get(name), list))
        first = next((item for value in found for item in value if isinstance(item, dict)), None)
        return first or {}


def sample_of(file: SourceFile) -> Sample:
    """Look at the beginning of a file.

    Raises:
        NotJson: It is neither JSON, JSONL nor an SQLite database.

    """
    if file.is_database:
        return _sample_of_database(file)
    with file.open() as opened:
        text = JsonText(opened)
        first = text.peek()
        if first in ("", "["):
            return _sample_of_list(text, first)
        if first == "{" and text.is_line_long():
            return Sample(Shape.OBJECT, (_beginning(file),))
        line = text.lines()
        found = next(line, None)
        if not isinstance(found, Broken) and not text.peek():
            return Sample(Shape.OBJECT, _objects((found,)))
        begun = (found, *islice(line, _LINES))
    whole = None
    if isinstance(found, Broken) and first == "{":
        whole = _sample_of_object(file, _objects(begun))
    return whole or _sample_of_lines(begun)


def _sample_of_list(text: JsonText, first: str) -> Sample:
    if not first:
        raise NotJson("is empty")
    items = list[object]()
    try:
        items.extend(islice(text.items(), _ITEMS))
    except CutOff:  # complete items can be read; reading counts the truncation
        if not items:
            raise
    return Sample(Shape.LIST, _objects(items))


def _sample_of_lines(begun: Sequence[object]) -> Sample:
    objects = _objects(begun)
    if not objects:
        deep = any(isinstance(e, Broken) and e.reason == "nested too deeply" for e in begun[:1])
        raise NotJson("is nested too deeply" if deep else "is not JSON")
    return Sample(Shape.LINES, objects)


def _objects(values: Iterable[object]) -> tuple[Mapping[str, object], ...]:
    return tuple(value for value in values if isinstance(value, dict))


def _sample_of_object(file: SourceFile, lines: tuple[Mapping[str, object], ...]) -> Sample | None:
    """Read one object on several lines; None if it is not one and there are objects in `lines`."""
    with file.open() as opened:
        text = JsonText(opened)
        text.peek()
        try:
            whole = text.value()
        except CutOff:
            if lines:
                return None
            raise
        if isinstance(whole, dict):
            return Sample(Shape.OBJECT, (whole,))
    reason = whole.reason if isinstance(whole, Broken) else ""
    if reason.startswith("larger"):
        return Sample(Shape.OBJECT, (_beginning(file),))
    if lines:
        return None
    raise NotJson("is nested too deeply" if reason == "nested too deeply" else "is not JSON")


def _beginning(file: SourceFile) -> Mapping[str, object]:
    """Read a large object up to its first list, and the first items of the list."""
    found: dict[str, object] = {}
    with file.open() as opened:
        text = JsonText(opened)
        text.peek()
        for name, value in text.members(STREAMED):
            if name in STREAMED and not isinstance(value, str | int | float | dict | None | Broken):
                found[name] = list(islice(value, _ITEMS))  # type: ignore[call-overload]
                break
            found[name] = value
    return found


def _sample_of_database(file: SourceFile) -> Sample:
    if file.path is None:
        raise NotJson("is a database in a zip (unpack it first)")
    with foreign_errors(file.path), closing(open_read_only(file.path)) as connection:
        return Sample(Shape.DATABASE, tables=tables_of(connection))


@dataclass(frozen=True, slots=True)
class Format:
    """An import format; each has its own module."""

    name: str
    """The value for `--from`."""
    description: str
    """A short phrase for error messages."""
    matches: Callable[[Sample], bool]
    """Whether a file with this beginning is in this format."""
    read: Callable[[SourceFile, Source], Iterator[IncomingConversation]]
    """Reads the conversations of a file one after the other; each must be read completely before
    the next. Items of the file that are left out are counted in the tally of its source.

    Raises ImportFailed or NotJson if the file is truncated or damaged.
    """
    usual_place: Callable[[Environment], Path] | None = None
    """Where the program stores its conversations; None if it does not store them locally."""
    kept_as: str = ""
    """The pattern of its files' names there."""
    variable: str = ""
    """The environment variable that overrides the usual place."""


def list_format(
    name: str,
    description: str,
    is_one: Callable[[Mapping[str, object]], bool],
    read_one: Callable[[Mapping[str, object], Source], IncomingConversation],
    under: str = "",
) -> Format:
    """Make the format of files with a list of conversations, or with one `under` a name."""

    def matches(sample: Sample) -> bool:
        return any(is_one(item) for item in (*sample.items, sample.member(under)))

    def read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
        for value in values_of(file, source.tally, *filter(None, (under,))):
            if isinstance(value, Broken):
                source.tally.skip(f"conversation that is {value.reason}")
            elif is_one(mapping(value)):
                yield read_one(mapping(value), source)
            else:
                source.tally.skip("item that is not a conversation")

    return Format(name, description, matches, read)


def lines_of(file: SourceFile, tally: Tally) -> Iterator[Mapping[str, object]]:
    """Read JSONL line by line; count broken lines, and yield {} for values other than objects."""
    with file.open() as opened:
        for line in JsonText(opened).lines():
            if isinstance(line, Broken):
                tally.skip(f"line that is {line.reason}")
            else:
                yield mapping(line)


def values_of(
    file: SourceFile, tally: Tally, *under: str, is_one: bool = False
) -> Iterator[object]:
    """Read the items of a file: of its list, or of the lists that its object has `under` names.

    What such an object has beside its lists is noted in the tally. An object without them is the
    only item. Of a truncated list, the complete items are read, and the truncation is counted.

    Raises:
        NotJson: The file is no JSON; or all of it `is_one` conversation, and it is not complete.

    """
    is_any = False
    try:
        with file.open() as opened:
            text = JsonText(opened)
            for value in text.items() if text.peek() == "[" else _of_object(text, tally, under):
                is_any = True
                yield value
            if text.peek() and is_one:
                raise NotJson("is not JSON: there is more text after its end")
            if text.peek():
                tally.skip("piece of text after the end of the JSON")
    except CutOff:
        if is_one or not is_any:
            raise
        tally.skip("truncated conversation at the end of a file")


def _of_object(text: JsonText, tally: Tally, under: Collection[str]) -> Iterator[object]:
    """Read the items of the lists under some names, or the whole object as one item."""
    if not under or text.peek() != "{":
        yield text.value()
        return
    others: dict[str, object] = {}
    is_listed = False
    for name, value in text.members(under):
        if isinstance(value, Iterator):
            is_listed = True
            yield from value
        else:
            others[name] = value
    if is_listed:
        tally.read(others)
    else:
        yield others
