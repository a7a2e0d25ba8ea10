"""Scores, answers and judgements → the JSON that is kept, and the tables that are read."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from jitchat import __version__
from jitchat.bench.answers import INSTRUCTIONS, Round
from jitchat.bench.asking import ANSWER_BRIEFLY, BY_DATE
from jitchat.bench.output import plain_table, settings_fields, sha256_of
from jitchat.bench.scores import SHORTLISTS, AnswerScores, ModeScores, Scores, embedder_name
from jitchat.settings import Settings
from jitchat.values import Mode


def result_fields(
    data: Path, embedder: str, settings: Settings, modes: Mapping[Mode, ModeScores]
) -> dict[str, object]:
    return {
        "version": __version__,
        "settings": settings_fields(settings),
        "data": {"path": str(data), "sha256": sha256_of(data)},
        "embedder": embedder_name(embedder),
        "modes": {mode.value: asdict(scores) for mode, scores in modes.items()},
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
    fields: Mapping[str, Any], reached: ByMode, answers: Round, judging: Round | None
) -> dict[str, Any]:
    modes = {}
    for name, mode in fields["modes"].items():
        categories = dict(mode["categories"])
        for category, scores in reached.get(Mode(name), {}).items():
            if category in categories:
                measured = {key: each for key, each in asdict(scores).items() if each is not None}
                categories[category] = categories[category] | measured
        modes[name] = {**mode, "categories": categories}
    added = {"answerer": _round(answers) | {"instructions": [ANSWER_BRIEFLY, BY_DATE]}}
    if judging is not None:
        added["judge"] = _round(judging) | {"instructions": [INSTRUCTIONS]}
    return {**fields, **added, "modes": modes}


def _round(asked: Round) -> dict[str, Any]:
    """Describe a model and what it used, by the provider's own count; null where it told none."""
    usage, price = asked.usage(), asked.model.price
    return {
        **asked.model.identity,
        "requests": asked.requests,
        "input_tokens": usage and usage.input_tokens,
        "output_tokens": usage and usage.output_tokens,
        "usd_per_million": asdict(price),
        "usd": usage and price.of(usage.input_tokens, usage.output_tokens),
    }


def answer_table(mode: Mode, reached: Mapping[str, AnswerScores], title: str) -> Table:
    columns = ("category", "n", "F1", "judged correct", "not judged", "failed")
    rows = []
    for category, scores in reached.items():
        judge = scores.judge
        shares = (scores.f1, judge.correct if judge is not None else None)
        rows.append(
            [
                category,
                f"{scores.answered + scores.failed:,}",
                *(_NOT_MEASURED if share is None else f"{share:.3f}" for share in shares),
                f"{judge.not_judged:,}" if judge is not None else _NOT_MEASURED,
                f"{scores.failed:,}",
            ]
        )
    return plain_table(f"{mode.value}: {title}", columns, rows)
