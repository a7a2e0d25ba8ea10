"""The results of `bench locomo` and `bench scaling` as JSON, tables and plots."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import log10
from pathlib import Path
from typing import Any

from rich.table import Table

from jitchat import __version__
from jitchat.bench.answers import INSTRUCTIONS, Round
from jitchat.bench.asking import ANSWER_BRIEFLY, BY_DATE
from jitchat.bench.haystack import PHRASINGS
from jitchat.bench.means import ASSUMED
from jitchat.bench.output import plain_table, settings_fields
from jitchat.bench.scaling import QUESTIONS, SizeResult
from jitchat.bench.scores import (
    SHORTLISTS,
    AnswerScores,
    ModeScores,
    PairedF1,
    Scores,
    embedder_name,
)
from jitchat.settings import Settings
from jitchat.values import Mode
from jitchat.weights.catalogue import sha256_of


def result_fields(  # noqa: PLR0913, PLR0917  all that a result is made of
    data: Path,
    embedder: str,
    settings: Settings,
    modes: Mapping[Mode, ModeScores],
    unfit: Mapping[Mode, int],
    sample: Mapping[str, int],
) -> dict[str, object]:
    return {
        "version": __version__,
        "settings": settings_fields(settings),
        "data": {"path": str(data), "sha256": sha256_of(data), **sample},
        "embedder": embedder_name(embedder),
        "modes": {mode.value: asdict(scores) for mode, scores in modes.items()},
        "does_not_fit": {mode.value: missed for mode, missed in unfit.items()},
    }


def tables(mode: Mode, scores: ModeScores, embedder: str) -> Iterator[Table]:
    is_found = mode.recalls
    first = f"retrieval {_times(scores.retrieve_ms)}, " if is_found else ""
    title = f"{mode.value}: {first}planning {_times(scores.plan_ms)}"
    rows = scores.categories.items()
    yield plain_table(title, _REACHED, [[name, *_reached(each, is_found)] for name, each in rows])
    if is_found:
        title = f"{mode.value}: strict @6, and the shortlist, by {embedder_name(embedder)}"
        listed = [
            [
                name,
                _both(each.strict_any_at_6, each.strict_all_at_6),
                *(_both(found["any"], found["all"]) for found in each.shortlist.values()),
            ]
            for name, each in rows
        ]
        yield plain_table(title, _LISTED, listed)


_REACHED = (
    "category", "n", "any@6", "all@6", "fraction@6", "window\nany / all", "tokens\nmean", "\np95",
)  # fmt: skip
_LISTED = ("category", "strict any / all", *(f"@{size} any / all" for size in SHORTLISTS))
_NOT_MEASURED = "–"


def _times(spent: Mapping[str, float]) -> str:
    return f"{spent['p50']:.1f} ms (p95 {spent['p95']:.1f})"


def _reached(scores: Scores, is_found: bool) -> list[str]:
    at_6 = (scores.any_at_6, scores.all_at_6, scores.fraction_at_6)
    return [
        f"{scores.n:,}",
        *(f"{each:.3f}" if is_found else _NOT_MEASURED for each in at_6),
        _both(scores.window_any, scores.window_all),
        f"{scores.window_share['mean']:.1%}",
        f"{scores.window_share['p95']:.1%}",
    ]


def _both(any_of_it: float, all_of_it: float) -> str:
    return f"{any_of_it:.3f} / {all_of_it:.3f}"


ByMode = Mapping[Mode, Mapping[str, AnswerScores]]


def answers_added(
    fields: Mapping[str, Any],
    reached: ByMode,
    pairs: Sequence[PairedF1],
    answers: Round,
    judging: Round | None,
) -> dict[str, Any]:
    modes = {}
    for name, mode in fields["modes"].items():
        categories = dict(mode["categories"])
        for category, scores in reached.get(Mode(name), {}).items():
            if category in categories:
                measured = {key: each for key, each in asdict(scores).items() if each is not None}
                categories[category] = categories[category] | measured
        modes[name] = {**mode, "categories": categories}
    added: dict[str, Any] = {
        "answerer": _round(answers) | {"instructions": [ANSWER_BRIEFLY, BY_DATE]}
    }
    if judging is not None:
        added["judge"] = _round(judging) | {"instructions": [INSTRUCTIONS]}
    added["f1_differences"] = [asdict(pair) for pair in pairs]
    return {**fields, **added, "modes": modes}


def _round(asked: Round) -> dict[str, Any]:
    """Describe a model and its usage as the provider reported it; null if it did not."""
    usage, prices = asked.usage(), asked.model.prices
    return {
        **asked.model.identity,
        "requests": asked.requests,
        "input_tokens": usage and usage.input_tokens,
        "output_tokens": usage and usage.output_tokens,
        "usd_per_million": {"input": prices.input, "output": prices.output},
        "usd": usage and prices.of(usage),
    }


def answer_table(mode: Mode, reached: Mapping[str, AnswerScores], title: str) -> Table:
    columns = ("category", "n", "F1", "95 %", "judged correct", "not judged", "failed")
    rows = []
    for category, scores in reached.items():
        judge = scores.judge
        correct = judge.correct if judge is not None else None
        rows.append(
            [
                category,
                f"{scores.answered + scores.failed:,}",
                _mean(scores.f1),
                _interval(scores.f1_interval),
                _mean(correct),
                f"{judge.not_judged:,}" if judge is not None else _NOT_MEASURED,
                f"{scores.failed:,}",
            ]
        )
    return plain_table(f"{mode.value}: {title}", columns, rows)


def _mean(value: float | None) -> str:
    return _NOT_MEASURED if value is None else f"{value:.3f}"


def _interval(ends: tuple[float, float] | None, sign: str = "") -> str:
    return _NOT_MEASURED if ends is None else " to ".join(f"{end:{sign}.3f}" for end in ends)


def paired_table(pairs: Sequence[PairedF1]) -> Table:
    columns = ("modes", "n", "F1", "difference", "95 %")
    rows = [
        [
            f"{pair.modes[1].value} – {pair.modes[0].value}",
            f"{pair.n:,}",
            " – ".join(f"{f1:.3f}" for f1 in reversed(pair.f1)),
            f"{pair.difference:+.3f}",
            _interval(pair.interval, "+"),
        ]
        for pair in pairs
    ]
    title = "F1 of two modes, over the questions that were answered in both"
    return plain_table(title, columns, rows, ASSUMED)


def scaling_fields(
    sizes: Sequence[SizeResult], length: str, settings: Settings
) -> dict[str, object]:
    return {
        "version": __version__,
        "settings": settings_fields(settings),
        "turn_length": length,
        "phrasings": len(PHRASINGS),
        "turns": [
            {"turns": each.turns, "needle": each.needle}
            | asdict(each.built)
            | asdict(each.asked)
            | {"exactness": asdict(each.exactness)}
            for each in sizes
        ],
    }


def scaling_tables(sizes: Sequence[SizeResult], length: str, limit: int) -> Iterator[Table]:
    built, asked = sizes[0].built, sizes[0].asked
    about = f"{length} turns, {built.embedder}, {asked.counter}, limit {limit:,}"
    for title, row_of, caption in (
        (f"Tokens sent ({about})", _sent_tokens, _NEEDLE),
        ("Times of a question in ms, medians", _question_times, _BOUNDS),
        ("A conversation: ms per turn to store, index and embed", _costs, _MEMORY),
    ):
        rows = [row_of(each) for each in sizes]
        columns = [name for name, _ in rows[0]]
        table = plain_table(title, columns, [[cell for _, cell in row] for row in rows], caption)
        table.columns[0].justify = "right"
        yield table


_NEEDLE = (
    f"needle: phrasings of the question, of {len(PHRASINGS)}, with the needle in the window."
    f" least: the minimum that jit saves on any of {QUESTIONS} questions."
)
_BOUNDS = (
    "plan: in jit; both: retrieve + plan. Bounds: numpy reads the matrix of vectors once; FTS5"
    " searches for the same words. × bounds: both, divided by the sum of the bounds. same 6, same"
    " 50: the share of the first hits of a search with exact vectors that are also found first."
)
_MEMORY = (
    "first, open: time until the first question can be asked, the first time and later. Memory: of"
    " a process that only opens and asks the conversation."
)
_Row = list[tuple[str, str]]
"""(heading, cell) of each column."""


def _sent_tokens(size: SizeResult) -> _Row:
    asked = size.asked
    is_refused = asked.modes.get(Mode.FULL, ...) is None
    whole = f"{asked.full_tokens:,}{' refused' if is_refused else ''}"
    row = [("turns", f"{size.turns:,}"), (Mode.FULL.value, whole)]
    for mode, sent in asked.modes.items():
        if mode == Mode.FULL:
            continue
        if sent is None:
            row += [(mode, "refused"), ("saved", "–"), ("needle", "–")]
            continue
        row += [(mode, f"{sent.tokens:,}"), ("saved", f"{sent.saved:.2%}")]
        row.append(("needle", f"{sent.found}"))
        if Mode(mode).recalls:
            row.append(("least", f"{sent.least_saved:.2%}"))
    return row


def _question_times(size: SizeResult) -> _Row:
    asked = size.asked
    return [
        ("turns", f"{size.turns:,}"),
        ("embed", f"{asked.embed_ms['p50']:.1f}"),
        ("retrieve", f"{asked.retrieve_ms['p50']:.1f}"),
        ("plan", f"{asked.plan_ms['p50']:.1f}"),
        ("both", f"{asked.both_ms['p50']:.1f}"),
        ("both, p95", f"{asked.both_ms['p95']:.1f}"),
        ("numpy", f"{asked.matrix_ms:.2f}"),
        ("FTS5", f"{asked.fts5_ms:.2f}"),
        ("× bounds", f"{asked.times_bounds:.1f}"),
        ("same 6", f"{size.exactness.of_6:.1%}"),
        ("same 50", f"{size.exactness.of_50:.1%}"),
    ]


def _costs(size: SizeResult) -> _Row:
    built, asked = size.built, size.asked
    return [
        ("turns", f"{size.turns:,}"),
        ("store", f"{built.store_turn_ms:.2f}"),
        ("index", f"{built.index_turn_ms:.2f}"),
        ("embed", f"{built.embed_turn_ms:.2f}"),
        ("first, s", "–" if built.first_open_ms is None else f"{built.first_open_ms / 1000:.2f}"),
        ("open, s", f"{asked.open_ms / 1000:.2f}"),
        ("resident, MB", "–" if asked.resident_mb is None else f"{asked.resident_mb:.0f}"),
        ("peak, MB", "–" if asked.peak_mb is None else f"{asked.peak_mb:.0f}"),
    ]


_HEIGHT = 18
_NAMED = ("red", "orange", "green", "blue", "magenta", "cyan", "gray")
_COLOURS = dict(zip(Mode, _NAMED, strict=False))
_POWERS = [10**exponent for exponent in range(1, 13)]
_PERCENTS = [0, 25, 50, 75, 100]

Lines = Mapping[str, Sequence[tuple[int, float]]]
"""Points (turns, value) by mode."""


def plots(sizes: Sequence[SizeResult], width: int) -> Iterator[str]:
    """Draw both plots in terminal colours; each line consists of its mode's initial.

    `full` is drawn whether it fits or not. At least one size is required.
    """
    sent = {"full": [(each.turns, float(each.asked.full_tokens)) for each in sizes]}
    saved = {}
    for mode in sizes[0].asked.modes:
        made = [(each.turns, found) for each in sizes if (found := each.asked.modes[mode])]
        if made and mode != Mode.FULL:
            sent[mode] = [(turns, float(found.tokens)) for turns, found in made]
            saved[mode] = [(turns, 100 * found.saved) for turns, found in made]
    values = [value for points in sent.values() for _, value in points]
    ticks = [each for each in _POWERS if min(values) / 10 < each < max(values) * 10]
    yield _drawn("tokens sent, by turns", sent, ticks, width, is_log=True)
    if saved:
        yield _drawn("% saved against full, by turns", saved, _PERCENTS, width, is_log=False)


def _drawn(title: str, lines: Lines, ticks: Sequence[int], width: int, *, is_log: bool) -> str:
    import plotext  # noqa: PLC0415  170 ms, needed only for a plot

    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limitsize(False, False)  # do not limit to the detected terminal size
    plotext.plotsize(width, _HEIGHT)
    plotext.title(title)
    for mode, points in lines.items():
        turns, values = zip(*points, strict=True)
        plotext.plot(turns, values, label=mode, marker=mode[0], color=_COLOURS[Mode(mode)])
    turns_of = sorted({turns for points in lines.values() for turns, _ in points})
    plotext.xscale("log")
    plotext.xticks(turns_of, [f"{each:,}" for each in turns_of])
    if is_log:
        plotext.yscale("log")
    ends = (ticks[0], ticks[-1])
    plotext.ylim(*(map(log10, ends) if is_log else ends))  # logarithms on a logarithmic scale
    plotext.yticks(ticks, [f"{each:,}" for each in ticks])
    made: str = plotext.build()
    return made.rstrip("\n")
