"""What was measured of each size → the JSON that is kept, and the tables that are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.table import Table

from jitchat import __version__
from jitchat.bench.haystack import PHRASINGS
from jitchat.bench.measures import QUESTIONS, Measured, Sent
from jitchat.bench.report import settings_fields
from jitchat.settings import Settings
from jitchat.turn import Mode


def scaling_fields(sizes: Sequence[Measured], length: str, settings: Settings) -> dict[str, object]:
    """Make the JSON, an object a size; settings as TOML writes them."""
    return {
        "version": __version__,
        "settings": settings_fields(settings),
        "turn_length": length,
        "phrasings": len(PHRASINGS),
        "turns": [
            {"turns": each.turns, "needle": each.needle} | asdict(each.built) | asdict(each.asked)
            for each in sizes
        ],
    }


def tables(sizes: Sequence[Measured], length: str, limit: int) -> Iterator[Table]:
    """Make the tables, a row a size; at least one size."""
    built, asked = sizes[0].built, sizes[0].asked
    about = f"{length} turns, {built.embedder}, {asked.counter}, limit {limit:,}"
    yield _table(f"Tokens sent ({about})", [_tokens(each) for each in sizes], _NEEDLE)
    yield _table("A question, ms, medians", [_times(each) for each in sizes], _BOUNDS)
    yield _table(
        "A conversation: ms a turn to store, index and embed",
        [_costs(each) for each in sizes],
        _MEMORY,
    )


_NEEDLE = (
    f"needle: in the window for so many of {len(PHRASINGS)} ways to ask for it."
    f" least: the least that jit saves on any of {QUESTIONS} questions."
)
_BOUNDS = (
    "plan: in jit; both: retrieve + plan. Bounds: numpy reads the matrix of vectors once, FTS5"
    " searches for the same words. × bounds: both, by their sum."
)
_MEMORY = "open: until it can be asked. Memory: of a process that did nothing but open and ask it."
_Row = list[tuple[str, str]]
"""Headings and cells."""


def _table(title: str, rows: Sequence[_Row], caption: str) -> Table:
    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    made.caption, made.caption_justify = caption, "left"
    for name, _ in rows[0]:
        made.add_column(name, justify="right")
    for row in rows:
        made.add_row(*(cell for _, cell in row))
    return made


def _tokens(size: Measured) -> _Row:
    asked = size.asked
    is_refused = asked.modes.get(Mode.FULL, ...) is None
    whole = f"{asked.full_tokens:,}{' refused' if is_refused else ''}"
    row = [("turns", f"{size.turns:,}"), (Mode.FULL.value, whole)]
    for mode, sent in asked.modes.items():
        if mode != Mode.FULL:
            row += _sent(mode, sent)
    return row


def _sent(mode: str, sent: Sent | None) -> _Row:
    if sent is None:
        return [(mode, "refused"), ("saved", "–"), ("needle", "–")]
    row = [(mode, f"{sent.tokens:,}"), ("saved", f"{sent.saved:.2%}"), ("needle", f"{sent.found}")]
    return [*row, ("least", f"{sent.least_saved:.2%}")] if mode == Mode.JIT else row


def _times(size: Measured) -> _Row:
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
    ]


def _costs(size: Measured) -> _Row:
    built, asked = size.built, size.asked
    return [
        ("turns", f"{size.turns:,}"),
        ("store", f"{built.store_turn_ms:.2f}"),
        ("index", f"{built.index_turn_ms:.2f}"),
        ("embed", f"{built.embed_turn_ms:.2f}"),
        ("open, s", f"{asked.open_ms / 1000:.2f}"),
        ("resident, MB", _megabytes(asked.resident_mb)),
        ("at its peak", _megabytes(asked.peak_mb)),
    ]


def _megabytes(size: float | None) -> str:
    return "–" if size is None else f"{size:.0f}"
