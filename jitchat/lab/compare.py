"""Two runs beside each other: what differs in how they were asked, and where answers differ.

Only cells that both have an answer for are compared: where one run was asked more, or failed, or
did not fit, its share would be of other questions. How many are left out for that is told.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jitchat.lab.change import Change, change_between, is_answered, with_whole
from jitchat.lab.experiment import Experiment, Result
from jitchat.lab.filler import Talk
from jitchat.lab.run_file import Run, short
from jitchat.text import figures, sanitize
from jitchat.values import Mode


@dataclass(frozen=True, slots=True)
class Comparison:
    before: Run
    after: Run
    at: Mapping[tuple[Mode, int], Change]
    """By mode and length, those that both have answers for."""
    of: Mapping[Mode, Change]
    """By mode, over all lengths that both have answers for."""
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

    def changes(self, mode: Mode) -> Iterator[tuple[str, Change]]:
        """Name the changes of a mode: at each length, and over all."""
        at = {length: change for (of, length), change in self.at.items() if of is mode}
        return with_whole(at, self.of[mode])


def compare_runs(
    before: Run, was: Iterable[Result], after: Run, became: Iterable[Result]
) -> Comparison:
    earlier = {result.cell: result for result in was}
    later = {result.cell: result for result in became}
    both, modes = earlier.keys() & later.keys(), [*Mode]
    pairs = [
        (earlier[cell], later[cell])
        for cell in sorted(both, key=lambda cell: (modes.index(cell.mode), cell.length))
        if is_answered(earlier[cell]) and is_answered(later[cell])
    ]
    asked = (each.experiment for each in (before, after))
    is_paired = len({(each.seed, each.conversation) for each in asked}) == 1
    at: dict[tuple[Mode, int], list[tuple[Result, Result]]] = defaultdict(list)
    of: dict[Mode, list[tuple[Result, Result]]] = defaultdict(list)
    for pair in pairs:
        cell = pair[0].cell
        at[cell.mode, cell.length].append(pair)
        of[cell.mode].append(pair)
    return Comparison(
        before,
        after,
        {place: change_between(each, is_paired=is_paired) for place, each in at.items()},
        {mode: change_between(each, is_paired=is_paired) for mode, each in of.items()},
        compared=len(pairs),
        only_before=len(earlier.keys() - both),
        only_after=len(later.keys() - both),
        unanswered=len(both) - len(pairs),
        is_paired=is_paired,
        differences=tuple(differences(before, after)),
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
    yield "Talk", _talk_of(was), _talk_of(became), ""
    asked = "so what a window lacks can be asked for"
    yield "request_context", _ASKS[was.asks], _ASKS[became.asks], asked
    yield "Repeats", was.repeats, became.repeats, ""
    yield "Limit", before.limit, after.limit, ""
    yield "Reserve", before.reserve, after.reserve, ""
    yield "Embedder", before.embedder, after.embedder, "so retrieval finds other turns"
    so = "so lengths are not quite the same"
    yield "Tokens counted by", before.counter, after.counter, so
    yield "Judged by", before.judge or "rules", after.judge or "rules", ""
    yield "jitchat", before.version, after.version, ""


_ASKS = {False: "not offered", True: "offered"}


def _talk_of(asked: Experiment) -> str:
    kept = {Talk.CHAT: "made up", Talk.LONG: "made up, with long answers"}
    return asked.conversation or kept[asked.talk]


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
_SHAPING = ("window.", "picker.", "reranker.", "chat.system")
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
