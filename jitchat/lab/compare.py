"""Two runs beside each other: what differs in how they were asked, and where answers differ.

Only cells that both have an answer for are compared: where one run was asked more, or failed, or
did not fit, its share would be of other questions. How many are left out for that is told.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jitchat.lab.experiment import Result, Verdict
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import Interval, Tallies, Tally, newcombe, newcombe_paired, tallied
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.values import Mode

_Place = tuple[Mode, int]
"""A mode and a length."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a share; both tallies are of the same cells, and of at least one."""

    before: Tally
    after: Tally
    turned: tuple[int, int] | None = None
    """Cells that are right in the earlier run only, and in the later one only; None where the
    same cell asked for another fact, so that the two are independent."""

    @property
    def points(self) -> float:
        """Give the later share minus the earlier one, -1 to 1."""
        return (self.after.share or 0.0) - (self.before.share or 0.0)

    @property
    def interval(self) -> Interval:
        """Give Newcombe's 95 % interval of that."""
        before, after = self.before, self.after
        if self.turned is not None:
            lost, gained = self.turned
            both = before.right - lost
            return newcombe_paired(both, lost, gained, before.wrong - gained)
        return newcombe((before.right, before.answered), (after.right, after.answered))

    @property
    def is_clear(self) -> bool:
        """Whether the interval is all on one side of no change."""
        low, high = self.interval
        return low > 0 or high < 0

    @property
    def outcome(self) -> str:
        """Name it: `better`, `worse` or `unclear`."""
        if not self.is_clear:
            return "unclear"
        return "better" if self.points > 0 else "worse"


def change_told(change: Change) -> str:
    """Write it in points, with its interval: `+12 (+3 to +21)`."""
    low, high = change.interval
    return f"{signed(change.points)} ({signed(low)} to {signed(high)})"


def signed(points: float) -> str:
    """Write a difference of shares in points: `+12`, `−3`, `0`."""
    return f"{points * 100:+.0f}".replace("-", "−") if round(points * 100) else "0"


@dataclass(frozen=True, slots=True)
class Comparison:
    """An earlier run and a later one."""

    before: Run
    after: Run
    at: Mapping[tuple[Mode, int], Change]
    """By mode and length, those that both have answers for."""
    of: Mapping[Mode, Change]
    """By mode, over all lengths that both have answers for: no interval holds for these."""
    compared: int
    """Cells."""
    only_before: int
    """Cells that the later run has no result for."""
    only_after: int
    unanswered: int
    """Cells that both decided, and for which one has no answer at least."""
    is_paired: bool
    """Whether the same cell of both asks the same question."""
    differences: tuple[str, ...]
    """What else may make the figures differ, a sentence each; empty where nothing does."""


def compared(
    before: Run, was: Iterable[Result], after: Run, became: Iterable[Result]
) -> Comparison:
    """Compare two runs, each with its results."""
    earlier = {result.cell: result for result in was}
    later = {result.cell: result for result in became}
    both = earlier.keys() & later.keys()
    cells = [cell for cell in both if _answered(earlier[cell]) and _answered(later[cell])]
    old = tallied(earlier[cell] for cell in cells)
    new = tallied(later[cell] for cell in cells)
    turned = _turned((earlier[cell], later[cell]) for cell in cells)
    is_paired = _asks_alike(before, after)
    return Comparison(
        before,
        after,
        _by_length(old, new, turned if is_paired else None),
        {
            mode: Change(old.by_mode[mode], new.by_mode[mode])
            for mode in Mode
            if mode in old.by_mode
        },
        compared=len(cells),
        only_before=len(earlier.keys() - both),
        only_after=len(later.keys() - both),
        unanswered=len(both) - len(cells),
        is_paired=is_paired,
        differences=tuple(differences(before, after)),
    )


def interval_told(comparison: Comparison) -> str:
    """Say what the interval of a change takes the two runs for."""
    if comparison.is_paired:
        return "Newcombe's for the same questions, each asked in both runs"
    return "Newcombe's for independent questions, for the same cell asks another one in each run"


def left_out(comparison: Comparison) -> str:
    """Tell what is compared and what is not: `400 cells compared; left out: 20 only in …`."""
    parts = (
        (comparison.only_before, "only in the earlier run"),
        (comparison.only_after, "only in the later run"),
        (comparison.unanswered, "without an answer in one of them"),
    )
    told = ", ".join(f"{number:,} {why}" for number, why in parts if number)
    return f"{plural(comparison.compared, 'cell')} compared" + (
        f"; left out: {told}." if told else "."
    )


def _answered(result: Result) -> bool:
    return result.verdict in (Verdict.RIGHT, Verdict.WRONG)


def _asks_alike(before: Run, after: Run) -> bool:
    """Whether the same cell of both asks the same question."""
    was, became = before.experiment, after.experiment
    return (was.seed, was.conversation) == (became.seed, became.conversation)


def _turned(pairs: Iterable[tuple[Result, Result]]) -> Mapping[_Place, tuple[int, int]]:
    """Count by place the cells that only the first one is right in, and only the second one."""
    lost, gained = Counter[_Place](), Counter[_Place]()
    for was, became in pairs:
        if was.verdict is not became.verdict:
            count = lost if was.verdict is Verdict.RIGHT else gained
            count[was.cell.mode, was.cell.length] += 1
    return {place: (lost[place], gained[place]) for place in lost | gained}


def _by_length(
    old: Tallies, new: Tallies, turned: Mapping[_Place, tuple[int, int]] | None
) -> dict[_Place, Change]:
    """Set the shares beside each other; `turned` is None where the runs are independent."""
    modes = list(Mode)
    places = sorted(old.by_length, key=lambda place: (modes.index(place[0]), place[1]))
    return {
        place: Change(
            old.by_length[place],
            new.by_length[place],
            turned.get(place, (0, 0)) if turned is not None else None,
        )
        for place in places
    }


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
            yield f"Setting {shorten(name, _LONGEST)}: {earlier}, then {later}."


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
    return shorten(text, _LONGEST)
