"""What two runs have not in common, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jitchat.rot.run import Run, short
from jitchat.text.safe import shortened

_LONGEST = 60
"""Characters of a value."""


def differences(before: Run, after: Run) -> Iterator[str]:
    """Say, a sentence each, what may make the figures of two runs differ."""
    for name, was, became, so in _values(before, after):
        if was != became:
            yield f"{name}: {_told(was)}, then {_told(became)}{f', {so}' if so else ''}."
    for name, earlier, later in _lists(before, after):
        yield from _only(name, earlier, later)
    yield from _settings(before, after)


_Value = tuple[str, object, object, str]
"""Its name, the earlier and the later value, and what that means, as a clause."""


def _values(before: Run, after: Run) -> Iterator[_Value]:
    was, became = before.experiment, after.experiment
    yield "Model", _who(before), _who(after), ""
    yield "Seed", was.seed, became.seed, "so the same cell asks for another fact"
    yield "Talk", was.conversation or "made up", became.conversation or "made up", ""
    yield "Repeats", was.repeats, became.repeats, ""
    yield "Limit", before.limit, after.limit, ""
    yield "Reserve", before.reserve, after.reserve, ""
    yield "Embedder", before.embedder, after.embedder, "so retrieval finds other turns"
    so = "so lengths are not quite the same"
    yield "Tokens counted by", before.counter, after.counter, so
    yield "Judged by", before.judge or "rules", after.judge or "rules", ""
    yield "jitchat", before.version, after.version, ""


def _lists(before: Run, after: Run) -> Iterator[tuple[str, list[str], list[str]]]:
    was, became = before.experiment, after.experiment
    yield "Lengths", [*map(short, was.lengths)], [*map(short, became.lengths)]
    yield "Depths", [*map(_depth, was.depths)], [*map(_depth, became.depths)]
    yield "Kinds", [*was.kinds], [*became.kinds]
    yield "Modes", [*was.modes], [*became.modes]


def _only(name: str, earlier: Iterable[str], later: Iterable[str]) -> Iterator[str]:
    was, became = dict.fromkeys(earlier), dict.fromkeys(later)
    if gone := [each for each in was if each not in became]:
        yield f"{name} in the earlier run only: {', '.join(gone)}."
    if new := [each for each in became if each not in was]:
        yield f"{name} in the later run only: {', '.join(new)}."


def _settings(before: Run, after: Run) -> Iterator[str]:
    """Tell settings that differ, but those that are told above already."""
    was, became = dict(before.settings), dict(after.settings)
    for name in was | became:
        if was.get(name) != became.get(name) and _matters(name):
            earlier, later = (_told(each.get(name, "not set")) for each in (was, became))
            yield f"Setting {shortened(name, _LONGEST)}: {earlier}, then {later}."


_TOLD = frozenset(f"provider.{name}" for name in ("name", "model", "limit", "reserve"))
"""Settings that a run tells by what came of them."""
_APART = ("screen.", "keys.")
"""Settings that no figure depends on begin so."""


def _matters(setting: str) -> bool:
    return setting not in _TOLD and not setting.startswith(_APART)


def _who(run: Run) -> str:
    return run.model if run.model == run.provider else f"{run.model} of {run.provider}"


def _depth(depth: float) -> str:
    return f"{depth:.0%}".replace("%", " %")


def _told(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return shortened(text, _LONGEST)
