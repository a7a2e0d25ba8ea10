"""The results of the benchmarks as tables, and as objects for JSON.

A table is described by its columns: the heading of each, and what it says about the item of a row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import TypeVar

from rich.table import Table

from jitchat.bench import prompt, read_data
from jitchat.bench.answers import Answering, Round
from jitchat.bench.haystack import PHRASINGS
from jitchat.bench.memory import Ingestion, Measuring, RunnerName, by_type
from jitchat.bench.observation import Replays
from jitchat.bench.output import plain_table
from jitchat.bench.proportions import Interval, wilson
from jitchat.bench.questions import QuestionType
from jitchat.bench.recall import Method
from jitchat.bench.scaling import QUESTIONS
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

_Item = TypeVar("_Item")
Cell = Callable[[_Item], str]
"""What a column says about an item."""
_NOT_MEASURED = "–"


def _table(
    title: str,
    heading: str,
    columns: Mapping[str, Cell[_Item]],
    rows: Iterable[tuple[str, _Item]],
    *notes: str,
) -> Table:
    """Build a table with the names of its rows under `heading`."""
    cells = [[name, *(cell(item) for cell in columns.values())] for name, item in rows]
    return plain_table(title, (heading, *columns), cells, *notes)


def _note(name: str, **values: object) -> str:
    note: str = read_data("notes")[name]
    return note.format(**values)


def _shares(*names: str) -> Cell[Figures]:
    return lambda figures: " / ".join(f"{figures[name]:.3f}" for name in names)


_N: Mapping[str, Cell[Figures]] = {"n": lambda figures: f"{figures['n']:,}"}
_RANKED: Mapping[str, Cell[Figures]] = {
    "any@6": _shares("any_at_6"),
    "all@6": _shares("all_at_6"),
    "fraction@6": _shares("fraction_at_6"),
}
_WINDOW: Mapping[str, Cell[Figures]] = {
    "window\nany / all": _shares("window_any", "window_all"),
    "tokens\nmean": lambda figures: f"{figures['window_share']:.1%}",
    "\np95": lambda figures: f"{figures['window_share_p95']:.1%}",
}
_SHORTLIST: Mapping[str, Cell[Figures]] = {
    "strict any / all": _shares("strict_any_at_6", "strict_all_at_6"),
    **{f"@{n} any / all": _shares(f"any_at_{n}", f"all_at_{n}") for n in (12, 32, 50)},
}


def _times(milliseconds: Sequence[float]) -> str:
    times = spread(milliseconds)
    return f"{times['p50']:.1f} ms (p95 {times['p95']:.1f})"


def mode_tables(mode: Mode, outcomes: Sequence[Outcome], embedder: str) -> Iterator[Table]:
    rows = _by_category(outcomes).items()
    planning = f"planning {_times([outcome.plan_ms for outcome in outcomes])}"
    if not mode.recalls:
        ranked: Mapping[str, Cell[Figures]] = dict.fromkeys(_RANKED, lambda _: _NOT_MEASURED)
        yield _table(f"{mode}: {planning}", "category", {**_N, **ranked, **_WINDOW}, rows)
        return
    title = f"{mode}: retrieval {_times([outcome.retrieve_ms for outcome in outcomes])}, {planning}"
    yield _table(title, "category", {**_N, **_RANKED, **_WINDOW}, rows)
    title = f"{mode}: strict @6, and the shortlist, by {embedder}"
    yield _table(title, "category", _SHORTLIST, rows)


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


def _with_interval(name: str) -> Cell[Figures]:
    def cell(figures: Figures) -> str:
        low, high = figures["intervals"][name]
        return f"{figures[name]:.3f}\n{_short(low)}–{_short(high)}"

    return cell


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


def recall_table(title: str, measured: Measured, *, has_categories: bool) -> Table:
    """Compare the methods on all questions and, if wanted, on those of each category."""
    columns = {heading: _with_interval(name) for heading, name in _COMPARED.items()}
    columns["tokens\nof full"] = lambda figures: (
        f"{figures['window_tokens']:,.0f}\n{figures['window_share']:.1%}"
    )
    methods = {method: _by_category(found) for method, found in measured.outcomes.items()}
    rows: list[Sequence[str]] = []
    for category, jit in methods[Method.JIT].items():
        if category == ALL or has_categories:
            rows.append([f"{category.replace('_', ' ')} ({jit['n']:,})", *("" for _ in columns)])
            for method, groups in methods.items():
                rows.append([f"  {method}", *(cell(groups[category]) for cell in columns.values())])
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


def _mean(value: float | None) -> str:
    return _NOT_MEASURED if value is None else f"{value:.3f}"


def _interval(ends: Interval | None, sign: str = "") -> str:
    return _NOT_MEASURED if ends is None else " to ".join(f"{end:{sign}.3f}" for end in ends)


_ANSWERS: Mapping[str, Cell[Figures]] = {
    "n": lambda figures: f"{figures['answered'] + figures['failed']:,}",
    "F1": lambda figures: _mean(figures["f1"]),
    "95 %": lambda figures: _interval(figures["f1_interval"]),
    "judged correct": lambda figures: _mean(figures.get("correct")),
    "not judged": lambda figures: f"{figures.get('not_judged', _NOT_MEASURED)}",
    "failed": lambda figures: f"{figures['failed']:,}",
}
_PAIRS: Mapping[str, Cell[Figures]] = {
    **_N,
    "F1": lambda figures: " – ".join(f"{f1:.3f}" for f1 in reversed(figures["f1"])),
    "difference": lambda figures: f"{figures['difference']:+.3f}",
    "95 %": lambda figures: _interval(figures["interval"], "+"),
}


def answer_tables(
    title: str, scores: Mapping[str, Mapping[str, Figures]], pairs: Sequence[Figures]
) -> Iterator[Table]:
    for mode, categories in scores.items():
        yield _table(f"{mode}: {title}", "category", _ANSWERS, categories.items())
    if pairs:
        rows = [(" – ".join(reversed(pair["modes"])), pair) for pair in pairs]
        title = "F1 of two modes, over the questions that were answered in both"
        yield _table(title, "modes", _PAIRS, rows, _note("pairs"))


_INGESTED: Mapping[str, Cell[Ingestion]] = {
    "sessions": lambda took: f"{took.sessions:,}",
    "messages": lambda took: f"{took.messages:,}",
    "store\noperations": lambda took: f"{took.operations:,}",
    "model\ncalls": lambda took: f"{took.model_calls:,}",
    "tokens\nin": lambda took: f"{took.input_tokens:,}",
    "\nout": lambda took: f"{took.output_tokens:,}",
    "time": lambda took: duration(took.seconds),
    "stored\nbytes": lambda took: f"{took.bytes_stored:,}",
    "words\nmaximum": lambda took: f"{max(took.words):,}" if took.words else "",
}


def ingestion_table(title: str, ingestions: Mapping[RunnerName, Ingestion]) -> Table:
    """Compare the costs of ingesting the sessions."""
    notes = []
    if len(ingestions) == len(RunnerName):
        document, entries = (ingestions[name] for name in RunnerName)
        fewer = less(1 - document.operations / max(1, entries.operations), ".1%", "fewer")
        stored = less(1 - document.bytes_stored / max(1, entries.bytes_stored), ".1%")
        faster = entries.seconds / max(document.seconds, 1e-9)
        notes.append(_note("ingestion", fewer=fewer, faster=faster, stored=stored))
    return _table(title, "runner", _INGESTED, ingestions.items(), *notes)


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


def _share_where(is_right: Callable[[Kept], bool]) -> Cell[Sequence[Kept]]:
    def cell(kept: Sequence[Kept]) -> str:
        if not kept:
            return ""
        right = sum(is_right(question) for question in kept)
        low, high = wilson(right, len(kept))
        return f"{right / len(kept):.1%}\n{low:.1%}–{high:.1%}"

    return cell


_KEPT: Mapping[str, Cell[Sequence[Kept]]] = {
    "asked": lambda kept: f"{len(kept):,}",
    "observe": _share_where(lambda question: question.observe),
    "recency, same tokens": _share_where(lambda question: question.recency),
}


def observe_table(title: str, kept: Sequence[Kept]) -> Table:
    rows = [(name.replace("_", " "), group) for name, group in by_category(kept).items()]
    rows.append(("of observed turns", [question for question in kept if question.is_observed]))
    return _table(title, "questions", _KEPT, rows, _note("observe"))


def _counts(kept: Sequence[Kept]) -> tuple[int, int, int]:
    """Return the number of questions, and how many `observe` and `recency` hold."""
    observed = sum(question.observe for question in kept)
    return len(kept), observed, sum(question.recency for question in kept)


_COUNTS = ("conversations", "turns", "fallbacks", "overflows", "passes", "reflections")


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


def _megabytes(value: float | None) -> str:
    return _NOT_MEASURED if value is None else f"{value:.0f}"


_QUESTION_TIMES: Mapping[str, Cell[Figures]] = {
    "embed": lambda size: f"{size['embed_ms']['p50']:.1f}",
    "retrieve": lambda size: f"{size['retrieve_ms']['p50']:.1f}",
    "plan": lambda size: f"{size['plan_ms']['p50']:.1f}",
    "both": lambda size: f"{size['both_ms']['p50']:.1f}",
    "both, p95": lambda size: f"{size['both_ms']['p95']:.1f}",
    "numpy": lambda size: f"{size['matrix_ms']:.2f}",
    "FTS5": lambda size: f"{size['fts5_ms']:.2f}",
    "× bounds": lambda size: f"{size['times_bounds']:.1f}",
    "same 6": lambda size: f"{size['exactness']['of_6']:.1%}",
    "same 50": lambda size: f"{size['exactness']['of_50']:.1%}",
}
_COSTS: Mapping[str, Cell[Figures]] = {
    "store": lambda size: f"{size['store_turn_ms']:.2f}",
    "index": lambda size: f"{size['index_turn_ms']:.2f}",
    "embed": lambda size: f"{size['embed_turn_ms']:.2f}",
    "first, s": lambda size: f"{size['first_open_ms'] / 1000:.2f}",
    "open, s": lambda size: f"{size['open_ms'] / 1000:.2f}",
    "resident, MB": lambda size: _megabytes(size["resident_mb"]),
    "peak, MB": lambda size: _megabytes(size["peak_mb"]),
}


def scaling_tables(sizes: Sequence[Figures], length: str, limit: int) -> Iterator[Table]:
    about = "{embedder}, {counter}".format_map(sizes[0])
    sent = [_sent(size) for size in sizes]
    columns = [heading for heading, _ in sent[0]]
    cells = [[cell for _, cell in row] for row in sent]
    rows = [(f"{size['turns']:,}", size) for size in sizes]
    title = f"Tokens sent ({length} turns, {about}, limit {limit:,})"
    times = "Times of a question in ms, medians"
    costs = "A conversation: ms per turn to store, index and embed"
    for table in (
        plain_table(
            title, columns, cells, _note("sent", phrasings=len(PHRASINGS), questions=QUESTIONS)
        ),
        _table(times, "turns", _QUESTION_TIMES, rows, _note("times")),
        _table(costs, "turns", _COSTS, rows, _note("costs")),
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
