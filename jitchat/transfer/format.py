"""What an import format is, and how its values are read from a file."""

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
    """A format of conversations; a module of its own each."""

    name: str
    """As `--from` takes it."""
    description: str
    """As a few words for an error."""
    matches: Callable[[Sample], bool]
    """Whether a file that begins so is in this format."""
    read: Callable[[SourceFile, Source], Iterator[IncomingConversation]]
    """Read the conversations of a file, each whole before the next one; what is left out of the
    file itself is counted in the tally of its source.

    Raises ImportFailed or NotJson where the file ends or breaks in the middle.
    """
    usual_place: Callable[[Environment], Path] | None = None
    """Where the program keeps its conversations; None where that is not on this machine."""
    kept_as: str = ""
    """What its files are called there, as a pattern."""
    variable: str = ""
    """The environment variable that names another place."""


def lines_of(file: SourceFile, tally: Tally) -> Iterator[Mapping[str, object]]:
    """Read JSONL, a line at a time; one that is broken is counted, one that is no object empty."""
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
    """Read the conversations of the list that `values_of` reads; other values are counted."""
    for value in values_of(file, source.tally, under):
        if isinstance(value, Broken):
            source.tally.skip(f"conversation that is {value.reason}")
        elif is_one(fields := mapping(value)):
            yield fields
        else:
            source.tally.skip("item that is not a conversation")


def values_of(file: SourceFile, tally: Tally, under: str = "") -> Iterator[object]:
    """Read the items of the list that a file is, or of the one that its object has `under` a name.

    An object without such a list is itself the only item. A list that is cut off gives what there
    is, and that is counted.
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
    """Read the list under a name, or the object as a whole."""
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
