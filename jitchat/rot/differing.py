"""What two runs have not in common, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

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


def changed(run: Run, settings: Mapping[str, str]) -> Iterator[str]:
    """Say, a sentence each, which settings shape windows or answers otherwise than in a run.

    Not its limit and its reserve: a run keeps those that it was begun with.
    """
    was = dict(run.settings)
    for name in was | dict(settings):
        before, now = (each.get(name, _UNSET) for each in (was, settings))
        if before != now and _shapes(name, run):
            told = _told(before) if before == _UNSET else f"= {_told(before)}"
            yield f"{run.id} was begun with {name} {told}; now it is {_told(now)}."


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
    """Tell what differs of the settings that windows or answers depend on.

    A provider's own are told by what they are, wherever they are set; of another one, where it is
    found and what it speaks is no news.
    """
    was, became = _in_use(before), _in_use(after)
    known = _FOUND_BY if before.provider != after.provider else frozenset[str]()
    for name in was | became:
        if was.get(name) != became.get(name) and name not in known:
            earlier, later = (_told(each.get(name, _UNSET)) for each in (was, became))
            yield f"Setting {shortened(name, _LONGEST)}: {earlier}, then {later}."


_UNSET = "not set"
_SHAPING = ("window.", "picker.", "chat.system")
"""Settings that windows and answers depend on begin so."""
_SAMPLING = frozenset(
    ("base_url", "protocol", "temperature", "top_p", "top_k", "seed", "effort", "max_tokens")
)
"""Of a provider, what its answers depend on."""
_FOUND_BY = frozenset(("provider.base_url", "provider.protocol"))


def _in_use(run: Run) -> dict[str, str]:
    """Give the settings that shape windows or answers of a run, its provider's as `provider.…`."""
    own, found = f"providers.{run.provider}.", dict[str, str]()
    for name, value in sorted(run.settings, reverse=True):
        if _shapes(name, run) and value not in (_UNSET, '""'):
            found[f"provider.{name[len(own) :]}" if name.startswith(own) else name] = value
    return dict(sorted(found.items()))


def _shapes(setting: str, run: Run) -> bool:
    """Whether it shapes windows or answers of a run."""
    section, _, name = setting.rpartition(".")
    picks = dict(run.settings).get("picker.provider", "").strip('"')
    tables = ("provider", f"providers.{run.provider}", f"providers.{picks}")
    return setting.startswith(_SHAPING) or (section in tables and name in _SAMPLING)


def _who(run: Run) -> str:
    return run.model if run.model == run.provider else f"{run.model} of {run.provider}"


def _depth(depth: float) -> str:
    return f"{depth:.0%}".replace("%", " %")


def _told(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return shortened(text, _LONGEST)
