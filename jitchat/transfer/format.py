"""An import format, and functions that read its values from a file."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jitchat.transfer.fields import mapping
from jitchat.transfer.incoming import IncomingConversation, Tally
from jitchat.transfer.json_text import Broken, CutOff, JsonText
from jitchat.transfer.sample import Sample
from jitchat.transfer.source import Source, SourceFile

Environment = Mapping[str, str]


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


def lines_of(file: SourceFile, tally: Tally) -> Iterator[Mapping[str, object]]:
    """Read JSONL line by line; count broken lines, and yield {} for values other than objects."""
    with file.open() as opened:
        for line in JsonText(opened).lines():
            if isinstance(line, Broken):
                tally.skip(f"line that is {line.reason}")
            else:
                yield mapping(line)


def conversations_in(
    file: SourceFile,
    source: Source,
    is_one: Callable[[Mapping[str, object]], bool],
    under: str = "",
) -> Iterator[Mapping[str, object]]:
    """Read the conversations among the items that `values_of` reads; count all others."""
    for value in values_of(file, source.tally, under):
        if isinstance(value, Broken):
            source.tally.skip(f"conversation that is {value.reason}")
        elif is_one(fields := mapping(value)):
            yield fields
        else:
            source.tally.skip("item that is not a conversation")


def values_of(file: SourceFile, tally: Tally, under: str = "") -> Iterator[object]:
    """Read the items of a file: of its list, or of the list that its object has `under` a name.

    An object without that list is the only item. Of a truncated list, the complete items are read,
    and the truncation is counted.
    """
    is_any = False
    try:
        with file.open() as opened:
            text = JsonText(opened)
            if text.peek() == "[":
                for value in text.items():
                    is_any = True
                    yield value
            else:
                yield from _of_object(file, text, under)
            if text.peek():
                tally.skip("piece of text after the end of the JSON")
    except CutOff:
        if not is_any:
            raise
        tally.skip("truncated conversation at the end of a file")


def _of_object(file: SourceFile, text: JsonText, under: str) -> Iterator[object]:
    """Read the items of the list under a name, or the whole object as one item."""
    if under and _has_list(file, under):
        for name, value in text.members((under,)):
            if name == under and isinstance(value, Iterator):
                yield from value
        return
    yield text.value()


def _has_list(file: SourceFile, under: str) -> bool:
    with file.open() as opened:
        text = JsonText(opened)
        text.peek()
        return any(
            name == under and isinstance(value, Iterator) for name, value in text.members((under,))
        )
