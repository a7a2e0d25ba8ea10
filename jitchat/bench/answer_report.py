"""Answers and judgements → what they add to the JSON, and the table that is read."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from jitchat.bench.answer_scores import AnswerScores
from jitchat.bench.answers import INSTRUCTIONS, Round
from jitchat.bench.questions import ANSWER_BRIEFLY, BY_DATE
from jitchat.text.sanitize import for_terminal
from jitchat.values import Mode

ByMode = Mapping[Mode, Mapping[str, AnswerScores]]


def answers_added(
    fields: Mapping[str, Any], reached: ByMode, answers: Round, judging: Round | None
) -> dict[str, Any]:
    """Add who answered and judged, and how well, to the fields of a result."""
    modes = {
        name: {**mode, "categories": _categories(mode["categories"], reached.get(Mode(name), {}))}
        for name, mode in fields["modes"].items()
    }
    added = {"answerer": _round(answers) | {"instructions": [ANSWER_BRIEFLY, BY_DATE]}}
    if judging is not None:
        added["judge"] = _round(judging) | {"instructions": [INSTRUCTIONS]}
    return {**fields, **added, "modes": modes}


def _categories(known: Mapping[str, Any], reached: Mapping[str, AnswerScores]) -> dict[str, Any]:
    return {
        name: scores | (_measured(reached[name]) if name in reached else {})
        for name, scores in known.items()
    }


def _measured(scores: AnswerScores) -> dict[str, Any]:
    """List what was measured, and nothing that was not."""
    return {name: value for name, value in asdict(scores).items() if value is not None}


def _round(asked: Round) -> dict[str, Any]:
    """Describe a model and what it used, by the provider's own count; null where it told none."""
    usage, price = asked.usage(), asked.model.price
    return {
        **asked.model.identity,
        "requests": len(asked.replies()),
        "input_tokens": usage and usage.input_tokens,
        "output_tokens": usage and usage.output_tokens,
        "usd_per_million": asdict(price),
        "usd": usage and price.of(usage),
    }


def answer_table(mode: Mode, reached: Mapping[str, AnswerScores], title: str) -> Table:
    """Make one mode's table, a row a category; the title names models, as the user did."""
    named = Text(for_terminal(f"{mode.value}: {title}"))
    made = Table(title=named, title_justify="left", box=SIMPLE_HEAD)
    made.add_column("category")
    for name in ("n", "F1", "judged correct", "not judged", "failed"):
        made.add_column(name, justify="right")
    for category, scores in reached.items():
        made.add_row(category, *_cells(scores))
    return made


def _cells(scores: AnswerScores) -> list[str]:
    judge = scores.judge
    return [
        f"{scores.answered + scores.failed:,}",
        _share(scores.f1),
        _share(judge.correct) if judge is not None else "–",
        f"{judge.not_judged:,}" if judge is not None else "–",
        f"{scores.failed:,}",
    ]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
