"""`jitchat import --check`: where each text of a source would be after an import."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from jitchat.cli import output
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.transfer.census import Place
from jitchat.transfer.formats import listed
from jitchat.transfer.import_run import Taken, checked, take_all
from jitchat.transfer.incoming import IncomingConversation, Tally
from jitchat.transfer.source import Source

_EXAMPLES = 20
_WIDTH = 60
"""Characters shown of a text."""


def check_source(conversations: Iterator[IncomingConversation], source: Source) -> bool:
    """Import into a temporary database, compare it with the source, and print the result.

    Return whether every text is accounted for.
    """
    counts, tally = Counter[tuple[str, Place]](), Tally()
    examples, reasons = list[tuple[str, str]](), dict[str, str]()
    number = 0
    for taken in _taken(conversations, source):
        number += 1
        rules = taken.census.rules
        counts.update(taken.census.counts)
        examples += taken.census.examples
        reasons |= rules.excluded if rules is not None else {}
        tally.add(taken.tally)
    tally.add(source.tally)
    compared = plural(sum(counts.values()), "text")
    output.say(f"{source.path.name}: {plural(number, 'conversation')}, {compared}")
    for line in (*_table(counts), *_excluded(counts, reasons)):
        output.say(line)
    if tally.skipped:
        output.say(f"left out: {listed(tally.skipped)}")
    if tally.changed:
        output.say(f"imported with changes: {listed(tally.changed)}")
    return _conclude(counts, examples)


def _taken(conversations: Iterator[IncomingConversation], source: Source) -> Iterator[Taken]:
    with (
        tempfile.TemporaryDirectory(prefix="jitchat-check-") as folder,
        closing(Database(Path(folder) / "check.db")) as database,
        output.progress(f"{source.path.name}: comparing", max(1, source.size)) as advance,
    ):
        seen = 0
        for taken in take_all(ColdStore(database), checked(conversations), source):
            advance(source.bytes_read - seen)
            seen = source.bytes_read
            yield taken


def _table(counts: Counter[tuple[str, Place]]) -> Iterator[str]:
    """Yield a line for each key that is compared: its texts in all, and by place."""
    places = [place for place in Place if place is not Place.EXCLUDED]
    keys = sorted({key for key, place in counts if place is not Place.EXCLUDED})
    width = max((len(key) for key in keys), default=0)
    yield f"{'':{width}}  {'texts':>7}" + "".join(f"  {place:>7}" for place in places)
    for key in keys:
        numbers = [counts[key, place] for place in places]
        cells = "".join(f"  {number or '':>7}" for number in (sum(numbers), *numbers))
        yield f"{key:{width}}{cells}".rstrip()


def _excluded(counts: Counter[tuple[str, Place]], reasons: dict[str, str]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for (key, place), number in sorted(counts.items()):
        if place is Place.EXCLUDED:
            by_reason.setdefault(reasons[key], []).append(f"{key} {number:,}")
    for reason, keys in by_reason.items():
        yield f"not compared ({reason}): {', '.join(keys)}"


def _conclude(counts: Counter[tuple[str, Place]], examples: Sequence[tuple[str, str]]) -> bool:
    lost = sum(number for (_, place), number in counts.items() if place is Place.NOWHERE)
    for key, text in examples[:_EXAMPLES]:
        output.say(f"nowhere: {key}: {shorten(text, _WIDTH)}")
    if lost:
        output.say(f"{plural(lost, 'text')} would not be imported: the keys are not known.")
    elif not counts:
        output.say("This format is not compared text by text.")
    else:
        output.say("Every text is accounted for.")
    return not lost
