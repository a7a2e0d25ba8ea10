"""The table of `jitchat import --check`: where each text of a source is after an import."""

from collections import Counter
from collections.abc import Sequence

from jitchat.cli import output
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.transfer.census import Place
from jitchat.transfer.import_run import Taken

_EXAMPLES = 20
_WIDTH = 60
"""Characters shown of a text."""


def print_census(taken: Sequence[Taken]) -> bool:
    """Print where the texts of conversations are; return whether every text is accounted for."""
    counts = Counter[tuple[str, Place]]()
    reasons = dict[str, str]()
    for conversation in taken:
        counts.update(conversation.census.counts)
        reasons |= conversation.census.rules.excluded
    keys = sorted({key for key, _ in counts})
    output.say(" ".join(("texts", *Place)))
    for key in keys:
        total = sum(counts[key, place] for place in Place)
        cells = [f"{counts[key, place] or '':>{len(place)}}" for place in Place]
        reason = f"({reasons[key]})" if key in reasons else ""
        output.say(" ".join((f"{total:>5}", *cells, key, reason)).rstrip())
    examples = [example for conversation in taken for example in conversation.census.examples]
    for key, text in list(dict.fromkeys(examples))[:_EXAMPLES]:
        output.say(f"nowhere: {key}: {shorten(text, _WIDTH)}")
    lost = sum(counts[key, Place.NOWHERE] for key in keys)
    sentence = f"{plural(lost, 'text')} would not be imported: the keys are not known."
    output.say(sentence if lost else "Every text is accounted for.")
    return not lost
