"""`jitchat import --check`: where each text of a source would be after an import."""

from collections import Counter
from collections.abc import Iterator, Sequence

from jitchat.cli import output
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.transfer.census import Place
from jitchat.transfer.import_run import Taken

_EXAMPLES = 20
_WIDTH = 60
"""Characters shown of a text."""
_COMPARED = tuple(place for place in Place if place is not Place.EXCLUDED)
_Counts = Counter[tuple[str, Place]]


def print_census(taken: Sequence[Taken]) -> bool:
    """Print where the texts of conversations are; return whether every text is accounted for."""
    counts, reasons = _Counts(), dict[str, str]()
    for conversation in taken:
        counts.update(conversation.census.counts)
        if conversation.census.rules is not None:
            reasons |= conversation.census.rules.excluded
    for line in (*_table(counts), *_excluded(counts, reasons)):
        output.say(line)
    examples = [example for conversation in taken for example in conversation.census.examples]
    for key, text in examples[:_EXAMPLES]:
        output.say(f"nowhere: {key}: {shorten(text, _WIDTH)}")
    lost = sum(number for (_, place), number in counts.items() if place is Place.NOWHERE)
    sentence = f"{plural(lost, 'text')} would not be imported: the keys are not known."
    output.say(sentence if lost else "Every text is accounted for.")
    return not lost


def _table(counts: _Counts) -> Iterator[str]:
    """Yield a line for each key that is compared: its texts in all, and by place."""
    keys = sorted({key for key, place in counts if place in _COMPARED})
    width = max((len(key) for key in keys), default=0)
    yield " ".join(f"{name:>8}" for name in (" " * width, "texts", *_COMPARED))
    for key in keys:
        numbers = [counts[key, place] for place in _COMPARED]
        cells = [f"{number or '':>8}" for number in (sum(numbers), *numbers)]
        yield " ".join((f"{key:{max(width, 8)}}", *cells)).rstrip()


def _excluded(counts: _Counts, reasons: dict[str, str]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for (key, place), number in sorted(counts.items()):
        if place is Place.EXCLUDED:
            by_reason.setdefault(reasons[key], []).append(f"{key} {number:,}")
    for reason, keys in by_reason.items():
        yield f"not compared ({reason}): {', '.join(keys)}"
