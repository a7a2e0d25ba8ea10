"""Compares two runs: the differences in their settings, and in their answers.

Only cells with an answer in both are compared: if one run asked more, or failed, or did not fit,
its share would be of different questions. The number of cells left out is reported.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from jitchat.lab.change import Changes, is_answered
from jitchat.lab.experiment import Experiment, Result
from jitchat.lab.filler import Talk
from jitchat.lab.run_file import Run, Runs, short
from jitchat.text import figures, sanitize
from jitchat.values import Mode


@dataclass(frozen=True, slots=True)
class Comparison:
    before: Run
    after: Run
    of: Mapping[Mode, Changes]
    """By mode, if both runs have answers."""
    compared: int
    """Number of compared cells."""
    only_before: int
    """Cells without a result in the later run."""
    only_after: int
    """Cells without a result in the earlier run."""
    unanswered: int
    """Cells with a result in both runs, but without an answer in at least one."""
    differences: tuple[str, ...]
    """Other possible causes of different figures, a sentence each; empty if there are none."""


def compare_runs(
    before: Run, was: Iterable[Result], after: Run, became: Iterable[Result]
) -> Comparison:
    earlier = {result.cell: result for result in was}
    later = {result.cell: result for result in became}
    both = earlier.keys() & later.keys()
    of: dict[Mode, list[tuple[Result, Result]]] = defaultdict(list)
    for cell in both:
        if is_answered(earlier[cell]) and is_answered(later[cell]):
            of[cell.mode].append((earlier[cell], later[cell]))
    compared = sum(map(len, of.values()))
    return Comparison(
        before,
        after,
        {mode: Changes(of[mode]) for mode in Mode if mode in of},
        compared=compared,
        only_before=len(earlier.keys() - both),
        only_after=len(later.keys() - both),
        unanswered=len(both) - compared,
        differences=tuple(differences(before, after)),
    )


def compare_saved(runs: Runs, wanted: Sequence[str]) -> Comparison:
    """Compare two saved runs by their ids, the one that was started first with the other. Slow."""
    found = []
    for run in wanted:
        with closing(runs.open(run)) as file:
            found.append((file.run, file.results()))
    before, after = sorted(found, key=lambda run: run[0].begun_at)
    return compare_runs(*before, *after)


def left_out(comparison: Comparison) -> str:
    """Return what is compared and what is not: `400 cells compared; left out: 20 only in …`."""
    parts = {
        "only in the earlier run": comparison.only_before,
        "only in the later run": comparison.only_after,
        "without an answer in one of them": comparison.unanswered,
    }
    without = ", ".join(f"{number:,} {why}" for why, number in parts.items() if number)
    left = f"; left out: {without}" if without else ""
    return f"{figures.plural(comparison.compared, 'cell')} compared{left}."


_LONGEST = 60
"""Maximum characters of a value."""


def differences(before: Run, after: Run) -> Iterator[str]:
    """Yield possible causes of differences between the figures of two runs, a sentence each."""
    for name, was, became, so in _values(before, after):
        if was != became:
            yield f"{name}: {_text(was)}, then {_text(became)}{f', {so}' if so else ''}."
    later = _axes(after.experiment)
    for name, earlier in _axes(before.experiment).items():
        for run, one, other in (("earlier", earlier, later[name]), ("later", later[name], earlier)):
            if alone := [each for each in dict.fromkeys(one) if each not in other]:
                yield f"{name} in the {run} run only: {', '.join(alone)}."
    yield from _settings(before, after)


def changed_settings(run: Run, settings: Mapping[str, str]) -> Iterator[str]:
    """Yield the settings that affect windows or answers and differ from a run's, a sentence each.

    Limit and reserve are not included: a run keeps those that it was started with.
    """
    was = dict(run.settings)
    for name in was | dict(settings):
        before, now = (each.get(name, _UNSET) for each in (was, settings))
        if before != now and _shapes(name, run):
            value = _text(before) if before == _UNSET else f"= {_text(before)}"
            yield f"{run.id} was started with {name} {value}; now it is {_text(now)}."


def _values(before: Run, after: Run) -> Iterator[tuple[str, object, object, str]]:
    """Yield name, earlier value, later value, and the effect of a difference as a clause."""
    was, became = before.experiment, after.experiment
    yield "Model", _who(before), _who(after), ""
    yield "Seed", was.seed, became.seed, "so the same cell asks for a different fact"
    yield "Talk", _talk_of(was), _talk_of(became), ""
    requested = "so the model can request what a window lacks"
    yield "request_context", _ASKS[was.asks], _ASKS[became.asks], requested
    yield "Repeats", was.repeats, became.repeats, ""
    yield "Limit", before.limit, after.limit, ""
    yield "Reserve", before.reserve, after.reserve, ""
    yield "Embedder", before.embedder, after.embedder, "so retrieval finds different turns"
    so = "so lengths differ slightly"
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
    """Yield differences in the settings that windows or answers depend on, a sentence each.

    A provider's settings have the same names in whatever section they are set. If the providers
    differ, their addresses and protocols are not compared.
    """
    was, became = _in_use(before), _in_use(after)
    known = _FOUND_BY if before.provider != after.provider else frozenset[str]()
    for name in was | became:
        if was.get(name) != became.get(name) and name not in known:
            earlier, later = (_text(each.get(name, _UNSET)) for each in (was, became))
            yield f"Setting {sanitize.shorten(name, _LONGEST)}: {earlier}, then {later}."


_UNSET = "not set"
_SHAPING = ("window.", "picker.", "reranker.", "chat.system")
"""Prefixes of settings that windows and answers depend on."""
_SAMPLING = frozenset(
    ("base_url", "protocol", "temperature", "top_p", "top_k", "seed", "effort", "max_tokens")
)
"""A provider's settings on which answers depend."""
_FOUND_BY = frozenset(("provider.base_url", "provider.protocol"))


def _in_use(run: Run) -> dict[str, str]:
    """Return the settings that affect windows or answers; the provider's as `provider.…`."""
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


def _text(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return sanitize.shorten(text, _LONGEST)
