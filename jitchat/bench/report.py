"""Outcomes → the JSON that is kept, and the table that is read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table

from jitchat import __version__
from jitchat.bench.labels import CATEGORIES
from jitchat.bench.scores import Outcome, Scores, scores_of, spread
from jitchat.settings import Settings
from jitchat.turn import Mode

ALL = "all"


def mode_fields(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """Make one mode's part of the JSON: times in milliseconds, shares of 1."""
    return {
        "retrieve_ms": retrieve_ms(outcomes),
        "plan_ms": plan_ms(outcomes),
        "categories": {
            name: asdict(scores) for name, scores in scores_by_category(outcomes).items()
        },
    }


def result_fields(
    data: Path, embedder: str, settings: Settings, modes: Mapping[Mode, Sequence[Outcome]]
) -> dict[str, object]:
    """Make the JSON, with all that a figure depends on; settings as TOML writes them."""
    return {
        "version": __version__,
        "settings": {name: value for name, value, _ in settings.rows()},
        "data": {"path": str(data), "sha256": hashlib.sha256(data.read_bytes()).hexdigest()},
        "embedder": embedder,
        "modes": {mode.value: mode_fields(outcomes) for mode, outcomes in modes.items()},
    }


def retrieve_ms(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Median and 95th percentile of the search, with the embedding of the question."""
    return spread([each.retrieve_ms for each in outcomes])


def plan_ms(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Median and 95th percentile of planning."""
    return spread([each.plan_ms for each in outcomes])


def scores_by_category(outcomes: Sequence[Outcome]) -> dict[str, Scores]:
    """All of them first, then each category that was asked."""
    groups = {
        name: [o for o in outcomes if o.question.category == name] for name in CATEGORIES.values()
    }
    found = {name: scores_of(group) for name, group in groups.items() if group}
    return {ALL: scores_of(outcomes), **found}


def tables(modes: Mapping[Mode, Sequence[Outcome]]) -> list[Table]:
    """One table a mode, a row a category."""
    return [_table(mode, outcomes) for mode, outcomes in modes.items()]


def _table(mode: Mode, outcomes: Sequence[Outcome]) -> Table:
    retrieve, plan = retrieve_ms(outcomes), plan_ms(outcomes)
    table = Table(
        title=f"{mode.value}: retrieval {retrieve['p50']:.1f} ms (p95 {retrieve['p95']:.1f}),"
        f" planning {plan['p50']:.1f} ms (p95 {plan['p95']:.1f})",
        title_justify="left",
        box=SIMPLE_HEAD,
    )
    table.add_column("category")
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for category, scores in scores_by_category(outcomes).items():
        table.add_row(category, *_cells(scores))
    return table


_COLUMNS = (
    "n", "any@6", "all@6", "share@6", "strict any / all",
    "any / all @12", "@32", "@50", "window any / all", "tokens, p95",
)  # fmt: skip


def _cells(scores: Scores) -> list[str]:
    listed = [f"{each['any']:.3f} / {each['all']:.3f}" for each in scores.shortlist.values()]
    return [
        f"{scores.n:,}",
        f"{scores.any_at_6:.3f}",
        f"{scores.all_at_6:.3f}",
        f"{scores.fraction_at_6:.3f}",
        f"{scores.strict_any_at_6:.3f} / {scores.strict_all_at_6:.3f}",
        *listed,
        f"{scores.window_any:.3f} / {scores.window_all:.3f}",
        f"{scores.window_share['mean']:.1%}, {scores.window_share['p95']:.1%}",
    ]
