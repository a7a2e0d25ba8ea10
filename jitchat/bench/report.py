"""The results of the benchmarks as tables, and as objects for JSON.

The columns of most tables are in `data/columns.toml`: the heading of each, and its figures.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from string import Formatter
from typing import Any

from rich.table import Table

from jitchat.bench import prompt, read_data
from jitchat.bench.answers import Answering, Round
from jitchat.bench.haystack import PHRASINGS
from jitchat.bench.memory import Ingestion, Measuring, RunnerName, by_type
from jitchat.bench.observation import Replays
from jitchat.bench.output import plain_table
from jitchat.bench.proportions import wilson
from jitchat.bench.questions import QuestionType
from jitchat.bench.recall import Method
from jitchat.bench.scaling import QUESTIONS, REPLAYED
from jitchat.bench.scores import (
    ALL,
    Figures,
    Kept,
    Measured,
    Outcome,
    by_category,
    figures_of,
    spread,
)
from jitchat.bench.workers import instructions
from jitchat.text.figures import duration, less
from jitchat.values import Mode

_NOT_MEASURED = "–"


class _Cells(Formatter):
    """Formats figures by their names; those that are None were not measured."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401  as declared there
        if isinstance(value, tuple):  # an interval
            return " to ".join(format(end, format_spec) for end in value)
        return _NOT_MEASURED if value is None else format(value, format_spec)


def _table(
    title: str, heading: str, columns: str, rows: Iterable[tuple[str, Figures]], *notes: str
) -> Table:
    """Build a table with the names of its rows under `heading` and the named `columns`."""
    patterns: Mapping[str, str] = read_data("columns")[columns]
    cells = [
        [name, *(_Cells().vformat(pattern, (), figures) for pattern in patterns.values())]
        for name, figures in rows
    ]
    return plain_table(title, (heading, *patterns), cells, *notes)


def _note(name: str, **values: object) -> str:
    note: str = read_data("notes")[name]
    return note.format(**values)


def _times(milliseconds: Sequence[float]) -> str:
    times = spread(milliseconds)
    return f"{times['p50']:.1f} ms (p95 {times['p95']:.1f})"


def mode_tables(mode: Mode, outcomes: Sequence[Outcome], embedder: str) -> Iterator[Table]:
    rows = _by_category(outcomes).items()
    planning = f"planning {_times([outcome.plan_ms for outcome in outcomes])}"
    if not mode.recalls:
        unranked = dict.fromkeys(("any_at_6", "all_at_6", "fraction_at_6"))
        windows = [(name, figures | unranked) for name, figures in rows]
        yield _table(f"{mode}: {planning}", "category", "modes", windows)
        return
    title = f"{mode}: retrieval {_times([outcome.retrieve_ms for outcome in outcomes])}, {planning}"
    yield _table(title, "category", "modes", rows)
    title = f"{mode}: strict @6, and the shortlist, by {embedder}"
    yield _table(title, "category", "shortlist", rows)


def _by_category(outcomes: Sequence[Outcome]) -> dict[str, Figures]:
    return {name: figures_of(group) for name, group in by_category(outcomes).items()}


def mode_fields(outcomes: Sequence[Outcome]) -> Figures:
    return {
        "retrieve_ms": spread([outcome.retrieve_ms for outcome in outcomes]),
        "plan_ms": spread([outcome.plan_ms for outcome in outcomes]),
        "categories": _by_category(outcomes),
    }


def method_fields(measured: Measured) -> Figures:
    """Return the figures of each method on all questions, and by category."""
    fields = {}
    for method, outcomes in measured.outcomes.items():
        categories = _by_category(outcomes)
        fields[method] = {**categories.pop(ALL), "categories": categories}
    return fields


def _with_interval(figures: Figures, name: str) -> str:
    low, high = figures["intervals"][name]
    return f"{figures[name]:.3f}\n{_short(low)}–{_short(high)}"


def _short(share: float) -> str:
    """Format an end of an interval in three characters."""
    return f"{share:.2f}".removeprefix("0")[:3]


_COMPARED = {
    "any@1": "any_at_1",
    "any@6": "any_at_6",
    "any@12": "any_at_12",
    "all@6": "all_at_6",
    "window\nany": "window_any",
    "\nall": "window_all",
}


def _compared(figures: Figures) -> Iterator[str]:
    for name in _COMPARED.values():
        yield _with_interval(figures, name)
    yield f"{figures['window_tokens']:,.0f}\n{figures['window_share']:.1%}"


def recall_table(title: str, measured: Measured, *, has_categories: bool) -> Table:
    """Compare the methods on all questions and, if wanted, on those of each category."""
    columns = (*_COMPARED, "tokens\nof full")
    methods = {method: _by_category(found) for method, found in measured.outcomes.items()}
    rows: list[Sequence[str]] = []
    for category, jit in methods[Method.JIT].items():
        if category == ALL or has_categories:
            rows.append([f"{category.replace('_', ' ')} ({jit['n']:,})", *("" for _ in columns)])
            for method, groups in methods.items():
                rows.append([f"  {method}", *_compared(groups[category])])
            others = [groups[category] for method, groups in methods.items() if method != "jit"]
            best = {name: max(figures[name] for figures in others) for name in _COMPARED.values()}
            differences = [f"{jit[name] - best[name]:+.3f}" for name in best]
            rows.append(["  jit − best", *differences, ""])
    return plain_table(title, ("category\nmethod", *columns), rows, _note("recall"))


def answer_fields(
    run: Answering, scores: Mapping[str, Mapping[str, Figures]], pairs: Sequence[Figures]
) -> Figures:
    fields: Figures = {
        "answerer": _round(run.answers())
        | {"instructions": [prompt("briefly"), prompt("by_date")]},
        "answered": scores,
        "f1_differences": pairs,
    }
    judging = run.judgements()
    if judging is not None:
        fields["judge"] = _round(judging) | {"instructions": [instructions(prompt("generously"))]}
    return fields


def _round(asked: Round) -> Figures:
    """Describe a model and its usage as the provider reported it; null if it did not."""
    usage, prices = asked.usage(), asked.model.prices
    return {
        **asked.model.identity,
        "requests": len(asked.jobs),
        "input_tokens": usage and usage.input_tokens,
        "output_tokens": usage and usage.output_tokens,
        "usd_per_million": {"input": prices.input, "output": prices.output},
        "usd": usage and prices.of(usage),
    }


def answer_tables(
    title: str, scores: Mapping[str, Mapping[str, Figures]], pairs: Sequence[Figures]
) -> Iterator[Table]:
    unjudged = {"correct": None, "not_judged": None}
    for mode, categories in scores.items():
        rows = [
            (name, unjudged | figures | {"asked": figures["answered"] + figures["failed"]})
            for name, figures in categories.items()
        ]
        yield _table(f"{mode}: {title}", "category", "answers", rows)
    if pairs:
        rows = [(" – ".join(reversed(pair["modes"])), pair) for pair in pairs]
        title = "F1 of two modes, over the questions that were answered in both"
        yield _table(title, "modes", "pairs", rows, _note("pairs"))


def ingestion_table(title: str, ingestions: Mapping[RunnerName, Ingestion]) -> Table:
    """Compare the costs of ingesting the sessions."""
    notes = []
    if len(ingestions) == len(RunnerName):
        document, entries = (ingestions[name] for name in RunnerName)
        fewer = less(1 - document.operations / max(1, entries.operations), ".1%", "fewer")
        stored = less(1 - document.bytes_stored / max(1, entries.bytes_stored), ".1%")
        faster = entries.seconds / max(document.seconds, 1e-9)
        notes.append(_note("ingestion", fewer=fewer, faster=faster, stored=stored))
    rows = []
    for name, took in ingestions.items():
        longest = f"{max(took.words):,}" if took.words else ""
        rows.append((name, asdict(took) | {"time": duration(took.seconds), "longest": longest}))
    return _table(title, "runner", "ingestion", rows, *notes)


def held_table(outcomes: Mapping[str, Sequence[Outcome]]) -> Table:
    """Compare the shares of questions of each type whose answers the windows hold."""
    groups = {name: by_type(found) for name, found in outcomes.items()}
    rows = []
    for kind in [kind for kind in QuestionType if any(kind in group for group in groups.values())]:
        asked = max(len(group.get(kind, ())) for group in groups.values())
        rows.append([kind, f"{asked:,}", *(_held_cell(group, kind) for group in groups.values())])
    tokens = [f"{_tokens(found):,.0f}" for found in outcomes.values()]
    rows.append(["tokens of a window", "", *tokens])
    title = "evidence held by the final window"
    return plain_table(title, ("question", "n", *groups), rows, _note("held"))


def _held_cell(groups: Mapping[QuestionType, Sequence[Outcome]], kind: QuestionType) -> str:
    if kind not in groups or kind is QuestionType.ABSTENTION:
        return _NOT_MEASURED
    figures = figures_of(groups[kind])
    low, high = figures["intervals"]["window_all"]
    return f"{figures['window_all']:.1%} ± {(high - low) / 2:.1%}"


def _tokens(outcomes: Sequence[Outcome]) -> float:
    return fmean(outcome.tokens for outcome in outcomes) if outcomes else 0.0


def memory_fields(memories: Measuring, name: RunnerName) -> Figures:
    outcomes = memories.measured.outcomes.get(name, [])
    return {
        **asdict(memories.ingestions[name]),
        "does_not_fit": memories.measured.unfit[name],
        "window_tokens": _tokens(outcomes),
        "held": {
            kind: figures_of(group)
            for kind, group in by_type(outcomes).items()
            if kind is not QuestionType.ABSTENTION
        },
    }


def _share_held(held: int, of: int) -> str:
    if not of:
        return ""
    low, high = wilson(held, of)
    return f"{held / of:.1%}\n{low:.1%}–{high:.1%}"


def observe_table(title: str, kept: Sequence[Kept]) -> Table:
    groups = {name.replace("_", " "): group for name, group in by_category(kept).items()}
    groups["of observed turns"] = [question for question in kept if question.is_observed]
    rows = []
    for name, group in groups.items():
        asked, observe, recency = _counts(group)
        held = _share_held(observe, asked), _share_held(recency, asked)
        rows.append((name, f"{asked:,}", *held))
    columns = ("questions", "asked", "observe", "recency, same tokens")
    return plain_table(title, columns, rows, _note("observe"))


def _counts(kept: Sequence[Kept]) -> tuple[int, int, int]:
    """Return the number of questions, and how many `observe` and `recency` hold."""
    observed = sum(question.observe for question in kept)
    return len(kept), observed, sum(question.recency for question in kept)


_COUNTS = ("conversations", "turns", "overflows", "passes", "reflections")


def observe_fields(results: Replays, limit: int) -> Figures:
    """Return the figures; those of windows are shares of the limit."""
    groups = by_category(results.kept)
    asked, held, recency = _counts(groups.pop(ALL))
    observed = [question for question in results.kept if question.is_observed]
    observed_asked, observed_held, _ = _counts(observed)
    windows = results.shares or [0.0]
    return {
        "limit": limit,
        "observer": "the extractor",
        **{name: getattr(results, name) for name in _COUNTS},
        "asked": asked,
        "held": held,
        "recency": recency,
        "observed_asked": observed_asked,
        "observed_held": observed_held,
        "largest": max(windows),
        "p95": spread(windows)["p95"],
        "largest_history": max(results.history_shares, default=0.0),
        "compression": results.observed / max(1, results.observations),
        "categories": {name: _counts(kept) for name, kept in groups.items()},
    }


def observe_summary(figures: Figures) -> str:
    """Summarise the figures of `observe_fields`."""
    return _note("observe_summary", **figures)


def cases_table(title: str, groups: Mapping[str, Figures]) -> Table:
    """Show the cases of each kind that are held, by the distance of the draft."""
    distances = next(iter(groups.values()))["held"]
    rows = []
    for name, figures in groups.items():
        held = figures["held"].values()
        cells = [_share_held(each["held"], each["n"]) for each in held]
        tokens = f"{figures['tokens']:,.0f}", f"{figures['of_full']:.1%}"
        rows.append([name, f"{next(iter(held))['n']:,}", *cells, *tokens])
    headings = [f"after {distance}" for distance in distances]
    return plain_table(
        title, ("kind", "cases", *headings, "tokens", "of full"), rows, _note("cases")
    )


def dialogue_table(title: str, chats: Mapping[str, Figures]) -> Table:
    return _table(title, "chat", "dialogue", chats.items(), _note("dialogue"))


def scaling_tables(sizes: Sequence[Figures], length: str, setup: str) -> Iterator[Table]:
    about = "{embedder}, {counter}".format_map(sizes[0])
    sent = [_sent(size) for size in sizes]
    columns = [heading for heading, _ in sent[0]]
    cells = [[cell for _, cell in row] for row in sent]
    rows = []
    for size in sizes:
        opening = {"first_open_s": size["first_open_ms"] / 1000, "open_s": size["open_ms"] / 1000}
        rows.append((f"{size['turns']:,}", size | opening))
    title = f"Tokens sent ({length} turns, {about}, {setup})"
    times = "Times of a question in ms, medians"
    title_of_prices = f"Price of a message in jit, the last {REPLAYED}, in tokens and of full"
    costs = "A conversation: ms per turn to store, index and embed"
    for table in (
        plain_table(
            title, columns, cells, _note("sent", phrasings=len(PHRASINGS), questions=QUESTIONS)
        ),
        _table(title_of_prices, "turns", "prices", rows, _note("prices")),
        _table(times, "turns", "times", rows, _note("times")),
        _table(costs, "turns", "costs", rows, _note("costs")),
    ):
        table.columns[0].justify = "right"
        yield table


def _sent(size: Figures) -> list[tuple[str, str]]:
    """Return (heading, cell) of each column: the tokens sent in each mode."""
    modes: Mapping[str, Figures | None] = size["modes"]
    refused = " refused" if modes.get(Mode.FULL, size) is None else ""
    row = [("turns", f"{size['turns']:,}"), ("full", f"{size['full_tokens']:,}{refused}")]
    for mode, sent in modes.items():
        if mode == Mode.FULL:
            continue
        row.append((mode, f"{sent['tokens']:,}" if sent else "refused"))
        row.append(("saved", f"{sent['saved']:.2%}" if sent else _NOT_MEASURED))
        row.append(("needle", f"{sent['found']}" if sent else _NOT_MEASURED))
        if Mode(mode).recalls:
            row.append(("least", f"{sent['least_saved']:.2%}" if sent else _NOT_MEASURED))
    return row
