"""Two runs beside each other: what differs in how they were asked, and where answers differ.

Only cells that both have an answer for are compared: where one run was asked more, or failed, or
did not fit, its share would be of other questions. How many are left out for that is told.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jitchat.lab.experiment import Experiment, Result, Verdict
from jitchat.lab.run_file import Run, short
from jitchat.lab.stats import Interval, Tally, count_results, newcombe, newcombe_paired
from jitchat.text import figures, sanitize
from jitchat.values import Mode


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
        before, after = self.before, self.after
        if self.turned is not None:
            lost, gained = self.turned
            both = before.right - lost
            return newcombe_paired(both, lost, gained, before.wrong - gained)
        return newcombe((before.right, before.answered), (after.right, after.answered))

    @property
    def is_clear(self) -> bool:
        low, high = self.interval
        return low > 0 or high < 0

    @property
    def outcome(self) -> str:
        if not self.is_clear:
            return "unclear"
        return "better" if self.points > 0 else "worse"


def change_text(change: Change) -> str:
    """Write it in points, with its interval: `+12 (+3 to +21)`."""
    low, high = change.interval
    return f"{signed(change.points)} ({signed(low)} to {signed(high)})"


def signed(points: float) -> str:
    """Write a difference of shares in points: `+12`, `−3`, `0`."""
    return f"{points * 100:+.0f}".replace("-", "−") if round(points * 100) else "0"


@dataclass(frozen=True, slots=True)
class Comparison:
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


def compare_runs(
    before: Run, was: Iterable[Result], after: Run, became: Iterable[Result]
) -> Comparison:
    earlier = {result.cell: result for result in was}
    later = {result.cell: result for result in became}
    both = earlier.keys() & later.keys()
    pairs = [
        (earlier[cell], later[cell])
        for cell in both
        if _answered(earlier[cell]) and _answered(later[cell])
    ]
    old, new = count_results(one for one, _ in pairs), count_results(other for _, other in pairs)
    lost, gained = _turned(pairs, Verdict.RIGHT), _turned(pairs, Verdict.WRONG)
    asked = (each.experiment for each in (before, after))
    is_paired = len({(each.seed, each.conversation) for each in asked}) == 1
    modes = [mode for mode in Mode if mode in old.by_mode]
    return Comparison(
        before,
        after,
        {
            place: Change(
                old.by_length[place],
                new.by_length[place],
                (lost[place], gained[place]) if is_paired else None,
            )
            for place in sorted(old.by_length, key=lambda place: (modes.index(place[0]), place[1]))
        },
        {mode: Change(old.by_mode[mode], new.by_mode[mode]) for mode in modes},
        compared=len(pairs),
        only_before=len(earlier.keys() - both),
        only_after=len(later.keys() - both),
        unanswered=len(both) - len(pairs),
        is_paired=is_paired,
        differences=tuple(differences(before, after)),
    )


def _answered(result: Result) -> bool:
    return result.verdict in (Verdict.RIGHT, Verdict.WRONG)


def _turned(pairs: Iterable[tuple[Result, Result]], was: Verdict) -> Counter[tuple[Mode, int]]:
    return Counter(
        (one.cell.mode, one.cell.length)
        for one, other in pairs
        if one.verdict is was and other.verdict is not was
    )


def interval_note(comparison: Comparison) -> str:
    """Say what the interval of a change takes the two runs for."""
    if comparison.is_paired:
        return "Newcombe's for the same questions, each asked in both runs"
    return "Newcombe's for independent questions, for the same cell asks another one in each run"


def left_out(comparison: Comparison) -> str:
    """Tell what is compared and what is not: `400 cells compared; left out: 20 only in …`."""
    parts = {
        "only in the earlier run": comparison.only_before,
        "only in the later run": comparison.only_after,
        "without an answer in one of them": comparison.unanswered,
    }
    without = ", ".join(f"{number:,} {why}" for why, number in parts.items() if number)
    left = f"; left out: {without}" if without else ""
    return f"{figures.plural(comparison.compared, 'cell')} compared{left}."


_LONGEST = 60
"""Characters of a value."""


def differences(before: Run, after: Run) -> Iterator[str]:
    """Say, a sentence each, what may make the figures of two runs differ."""
    for name, was, became, so in _values(before, after):
        if was != became:
            yield f"{name}: {_told(was)}, then {_told(became)}{f', {so}' if so else ''}."
    later = _axes(after.experiment)
    for name, earlier in _axes(before.experiment).items():
        for run, one, other in (("earlier", earlier, later[name]), ("later", later[name], earlier)):
            if alone := [each for each in dict.fromkeys(one) if each not in other]:
                yield f"{name} in the {run} run only: {', '.join(alone)}."
    yield from _settings(before, after)


def changed_settings(run: Run, settings: Mapping[str, str]) -> Iterator[str]:
    """Say, a sentence each, which settings shape windows or answers otherwise than in a run.

    Not its limit and its reserve: a run keeps those that it was begun with.
    """
    was = dict(run.settings)
    for name in was | dict(settings):
        before, now = (each.get(name, _UNSET) for each in (was, settings))
        if before != now and _shapes(name, run):
            told = _told(before) if before == _UNSET else f"= {_told(before)}"
            yield f"{run.id} was begun with {name} {told}; now it is {_told(now)}."


def _values(before: Run, after: Run) -> Iterator[tuple[str, object, object, str]]:
    """List names, earlier and later values, and what it means that they differ, as a clause."""
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


def _axes(experiment: Experiment) -> dict[str, list[str]]:
    return {
        "Lengths": [*map(short, experiment.lengths)],
        "Depths": [f"{depth:.0%}".replace("%", " %") for depth in experiment.depths],
        "Kinds": [*experiment.kinds],
        "Modes": [*experiment.modes],
    }


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
            yield f"Setting {sanitize.shorten(name, _LONGEST)}: {earlier}, then {later}."


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
    section, _, name = setting.rpartition(".")
    picks = dict(run.settings).get("picker.provider", "").strip('"')
    tables = ("provider", f"providers.{run.provider}", f"providers.{picks}")
    return setting.startswith(_SHAPING) or (section in tables and name in _SAMPLING)


def _who(run: Run) -> str:
    return run.model if run.model == run.provider else f"{run.model} of {run.provider}"


def _told(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return sanitize.shorten(text, _LONGEST)
