"""Scores → the JSON that is kept, and the tables that are read."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from jitchat import __version__
from jitchat.bench.scores import SHORTLISTS, ModeScores, Scores, embedder_name
from jitchat.settings import Settings
from jitchat.text.sanitize import for_terminal
from jitchat.values import Mode

_LOGIN = re.compile(r"(?<=//)[^/]*@")


def result_fields(
    data: Path, embedder: str, settings: Settings, modes: Mapping[Mode, ModeScores]
) -> dict[str, object]:
    """Make the JSON, with all that a figure depends on; settings as TOML writes them."""
    return {
        "version": __version__,
        "settings": settings_fields(settings),
        "data": {"path": str(data), "sha256": sha256_of(data)},
        "embedder": embedder_name(embedder),
        "modes": {mode.value: asdict(scores) for mode, scores in modes.items()},
    }


def settings_fields(settings: Settings) -> dict[str, str]:
    """Write every setting as TOML does, without what only its owner may know."""
    return {name: without_login(value) for name, value, _ in settings.rows()}


def without_login(address: str) -> str:
    """Drop the name and password that an address may carry: they are no part of a result."""
    return _LOGIN.sub("", address)


def sha256_of(path: Path) -> str:
    """Hash a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tables(mode: Mode, scores: ModeScores, embedder: str) -> Iterator[Table]:
    """Make one mode's tables, a row a category, each for 80 columns."""
    is_found = mode is Mode.JIT
    first = f"retrieval {_times(scores.retrieve_ms)}, " if is_found else ""
    title = f"{mode.value}: {first}planning {_times(scores.plan_ms)}"
    rows = scores.categories.items()
    yield _table(title, _REACHED, {name: _reached(each, is_found) for name, each in rows})
    if is_found:
        title = f"{mode.value}: strict @6, and the shortlist, by {embedder_name(embedder)}"
        yield _table(title, _LISTED, {name: _listed(each) for name, each in rows})


_REACHED = (
    "n", "any@6", "all@6", "fraction@6", "window\nany / all", "tokens\nmean", "\np95",
)  # fmt: skip
_LISTED = ("strict any / all", *(f"@{size} any / all" for size in SHORTLISTS))
_NOT_MEASURED = "–"


def _times(spent: Mapping[str, float]) -> str:
    return f"{spent['p50']:.1f} ms (p95 {spent['p95']:.1f})"


def _table(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> Table:
    named = Text(for_terminal(title))
    made = Table(title=named, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    made.add_column("category")
    for name in columns:
        made.add_column(name, justify="right")
    for category, cells in rows.items():
        made.add_row(category, *cells)
    return made


def _reached(scores: Scores, is_found: bool) -> list[str]:
    at_6 = (scores.any_at_6, scores.all_at_6, scores.fraction_at_6)
    return [
        f"{scores.n:,}",
        *(f"{each:.3f}" if is_found else _NOT_MEASURED for each in at_6),
        _both(scores.window_any, scores.window_all),
        f"{scores.window_share['mean']:.1%}",
        f"{scores.window_share['p95']:.1%}",
    ]


def _listed(scores: Scores) -> list[str]:
    listed = [_both(each["any"], each["all"]) for each in scores.shortlist.values()]
    return [_both(scores.strict_any_at_6, scores.strict_all_at_6), *listed]


def _both(any_of_it: float, all_of_it: float) -> str:
    return f"{any_of_it:.3f} / {all_of_it:.3f}"
