"""The beginning of a file, from which its format is recognized; the name does not matter."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import islice

from jitchat.transfer.json_text import Broken, CutOff, JsonText, NotJson
from jitchat.transfer.read_only import foreign_errors, open_read_only, tables_of
from jitchat.transfer.source import SourceFile

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
        return _of_database(file)
    with file.open() as opened:
        text = JsonText(opened)
        first = text.peek()
        if first in ("", "["):
            return _of_list(text, first)
        if first == "{" and text.is_line_long():
            return Sample(Shape.OBJECT, (_beginning(file),))
        line = text.lines()
        found = next(line, None)
        if not isinstance(found, Broken) and not text.peek():
            return Sample(Shape.OBJECT, _objects((found,)))
        begun = (found, *islice(line, _LINES))
    whole = (
        _of_object(file, _objects(begun)) if isinstance(found, Broken) and first == "{" else None
    )
    return whole or _of_lines(begun)


def _of_list(text: JsonText, first: str) -> Sample:
    if not first:
        raise NotJson("is empty")
    items = list[object]()
    try:
        items.extend(islice(text.items(), _ITEMS))
    except CutOff:  # complete items can be read; reading counts the truncation
        if not items:
            raise
    return Sample(Shape.LIST, _objects(items))


def _of_lines(begun: Sequence[object]) -> Sample:
    objects = _objects(begun)
    if not objects:
        deep = any(isinstance(e, Broken) and e.reason == "nested too deeply" for e in begun[:1])
        raise NotJson("is nested too deeply" if deep else "is not JSON")
    return Sample(Shape.LINES, objects)


def _objects(values: Iterable[object]) -> tuple[Mapping[str, object], ...]:
    return tuple(value for value in values if isinstance(value, dict))


def _of_object(file: SourceFile, lines: tuple[Mapping[str, object], ...]) -> Sample | None:
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


STREAMED = ("conversations", "messages", "turns")
"""Names of lists that can have any length."""


def _of_database(file: SourceFile) -> Sample:
    if file.path is None:
        raise NotJson("is a database in a zip (unpack it first)")
    with foreign_errors(file.path), closing(open_read_only(file.path)) as connection:
        return Sample(Shape.DATABASE, tables=tables_of(connection))
