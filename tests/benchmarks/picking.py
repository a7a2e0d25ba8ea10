"""What a picker is shown on labelled questions, what that costs, and what it could reach at best.

`python -m tests.benchmarks.picking --data locomo10.json [--embedder NAME] [--model-path DIR]`

No model is asked. For every line that may be shown, the bound is what an oracle reaches, which
picks each turn of the evidence that it is shown: no picker finds more. `by scores` is what is found
without one. Where one turn stands out from all others, no picker is asked, and the bound is the
scores' own figure.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from jitchat.bench.asking import indexed
from jitchat.bench.questions import Question, read_labelled
from jitchat.index.embedding_models import DEFAULT_MODEL
from jitchat.index.load_embedder import load_embedder
from jitchat.small_models import picker
from jitchat.window.history import History
from jitchat.window.tokens import counter_for, request_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from jitchat.index.embedder import Embedder
    from jitchat.values import Retrieval

AT = 6


@dataclass(frozen=True)
class Asked:
    """A question, what was found for it, and what a picker would be asked."""

    question: Question
    ranked: tuple[int, ...]
    shown: frozenset[int]
    tokens: int
    """Of the request; 0 where no picker is asked."""


@dataclass(frozen=True)
class Bound:
    lines: float
    """In the mean, of the questions that a picker is asked."""
    tokens: float
    """Likewise, of a request."""
    asked: float
    """The share of questions that a picker is asked."""
    some: float
    """The share of questions of whose evidence an oracle picks any; of all of it, `every`."""
    every: float


def bound_of(asked: Sequence[Asked]) -> Bound:
    """What an oracle reaches with what is shown; without a request, the first six stand."""
    sent = [each for each in asked if each.tokens]
    found = [(each.question.evidence, _within_reach(each)) for each in asked]
    return Bound(
        lines=fmean(len(each.shown) for each in sent) if sent else 0.0,
        tokens=fmean(each.tokens for each in sent) if sent else 0.0,
        asked=len(sent) / len(asked),
        some=fmean(bool(wanted & there) for wanted, there in found),
        every=fmean(bool(wanted) and wanted <= there for wanted, there in found),
    )


def _within_reach(each: Asked) -> frozenset[int]:
    """What an oracle can have loaded: the two best, and what it picks of the evidence."""
    if not each.tokens:
        return frozenset(each.ranked[:AT])
    picked = sorted(each.question.evidence & each.shown)[: picker.MOST_PICKS]
    return frozenset((*picked, *each.ranked[: picker.KEPT]))


def asked_of(
    path: Path, embedder: Embedder, count: Callable[[str, dict[int, str]], int], *, every: bool
) -> Iterator[Asked]:
    """Ask as the app would; with `every`, each question, with all fifty lines."""
    for talk in read_labelled(path):
        with indexed(talk.found, embedder) as memory:
            turns = memory.turns
            history = History().extended(turns, len)
            for question in talk.questions:
                found = memory.retrieve(question.text, turns[-1].position + 1)
                ranked = tuple(
                    row.turn for row in sorted(found.candidates, key=lambda row: row.rank)
                )
                shown = _lines(found, history, every=every)
                tokens = count(question.text, shown) if shown else 0
                yield Asked(question, ranked, frozenset(shown), tokens)


def _lines(found: Retrieval, history: History, *, every: bool) -> dict[int, str]:
    if every:
        return picker.lines_of(replace(found, floor=-inf), history)
    return {} if picker.is_clear(found) else picker.lines_of(found, history)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.picking")
    parser.add_argument("--data", type=Path, required=True, metavar="FILE")
    names = ["lexical", "builtin", "fastembed"]
    parser.add_argument("--embedder", choices=names, default="builtin")
    parser.add_argument("--model-path", type=Path, metavar="DIR")
    parser.add_argument("--model", default="gpt-5-mini", help="whose tokens are counted")
    given = parser.parse_args()
    name = {"lexical": "none"}.get(given.embedder, given.embedder)
    embedder = load_embedder(name, DEFAULT_MODEL, given.model_path, Path("no-cache"))
    counter = counter_for(given.model, os.environ)

    def count(draft: str, lines: dict[int, str]) -> int:
        schema = json.dumps(picker.picker_schema(lines))
        return request_tokens(counter, picker.picker_request(draft, lines)) + counter.count(schema)

    print(f"{given.data.name}, {embedder.id}, tokens by {counter.name}")
    for title, every in (("all fifty lines", True), ("lines in doubt", False)):
        asked = list(asked_of(given.data, embedder, count, every=every))
        bound = bound_of(asked)
        six = fmean(bool(each.question.evidence & {*each.ranked[:AT]}) for each in asked)
        print(
            f"{title:15}  asked {bound.asked:6.1%} of {len(asked)}  lines {bound.lines:5.1f}"
            f"  request {bound.tokens:7,.0f} tokens  oracle any {bound.some:.3f}"
            f" all {bound.every:.3f}  by scores any@{AT} {six:.3f}"
        )


if __name__ == "__main__":
    main()
