"""The reranker: a cross-encoder on this machine scores the message with each shortlisted turn.

Its result is one more part of the score, with the same weight as all others together: alone, a
model that was trained on questions about web pages orders turns of a conversation worse than they
do. So the parts still add up to the score, the floor stays, and the ledger shows what moved each
turn.

It never delays a message by more than its time limit, within which it reads the best turns first,
and downloads nothing. Whatever goes wrong, the ranking stays, and `Retrieval.reranking` states why.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import isfinite
from statistics import fmean, pstdev

from jitchat.errors import RerankerUnavailable
from jitchat.index.cross_encoder import CrossEncoder
from jitchat.small_models.picker import lacks_any
from jitchat.text.sanitize import both_ends
from jitchat.threads import left_at_exit
from jitchat.values import Candidate, Hit, Mode, Reranking, Retrieval
from jitchat.window.budget import Budget
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import RERANKER
from jitchat.writing.calls import full_text

_NOT_YET = "not run before the message is sent"
_NOTHING = "not run, as there is nothing to reorder"
_NO_CHOICE = "not run, as every turn that was found is in the window anyway"
_BATCH = 4
"""Turns that are read between two checks of the clock."""
_MOST_READ = 50
"""Turns: reading more takes longer than a message waits."""
_REACH = 500
"""Characters at the beginning and at the end of a long text that are read."""


class Reranker:
    """A cross-encoder with a time limit. Safe to use from several threads."""

    def __init__(self, model: str, load: Callable[[], CrossEncoder], seconds: float) -> None:
        self.name = model
        self._load, self._seconds = load, seconds
        self._lock = threading.Lock()
        self._loaded: CrossEncoder | RerankerUnavailable | None = None
        self._is_prepared = False

    def not_run(self, retrieval: Retrieval) -> Retrieval:
        """Report that the reranker waits for the message, and start loading its model."""
        if not self._is_prepared:
            self._is_prepared = True
            threading.Thread(target=self._prepare, daemon=True).start()
        return self._unchanged(retrieval, _NOT_YET)

    async def rerank(self, sources: Sources, budget: Budget, counter: TokenCounter) -> Retrieval:
        """Rerank the shortlist of `sources`.

        Raises:
            WindowOverflow: What must be sent does not fit, whatever is recalled.

        """
        retrieval, history = sources.retrieval, sources.history
        ranked = sorted(retrieval.candidates, key=lambda row: row.rank)[:_MOST_READ]
        places = ((row.turn, history.find(row.turn)) for row in ranked)
        texts = {turn: full_text(history.turns[at]) for turn, at in places if at is not None}
        if len(texts) < 2 or not retrieval.hits:
            return self._unchanged(retrieval, _NOTHING)
        if not lacks_any(await asyncio.to_thread(plan, Mode.JIT, sources, budget, counter), texts):
            return self._unchanged(retrieval, _NO_CHOICE)
        started = time.perf_counter()
        scores: dict[int, float] = {}
        until = started + self._seconds
        read = partial(self._read, sources.draft.content, texts, until, scores)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await left_at_exit(read)
        except RerankerUnavailable as error:
            return self._unchanged(retrieval, error.what, started)
        scores = dict(scores)  # a batch may still be running
        if len(scores) < 2:
            return self._unchanged(retrieval, f"no ranking in {self._seconds:g} s", started)
        report = Reranking(self.name, "", len(scores), (time.perf_counter() - started) * 1000)
        return merge_scores(retrieval, scores, report)

    def _unchanged(self, retrieval: Retrieval, why: str, started: float | None = None) -> Retrieval:
        ms = (time.perf_counter() - started) * 1000 if started is not None else 0.0
        return replace(retrieval, reranking=Reranking(self.name, why, 0, ms))

    def _read(
        self, draft: str, texts: Mapping[int, str], until: float, scores: dict[int, float]
    ) -> None:
        """Add the scores of the texts to `scores`, in order, as far as time allows."""
        encoder, query = self._encoder(), both_ends(draft, _REACH, " … ")
        turns = list(texts)
        for start in range(0, len(turns), _BATCH):
            if time.perf_counter() >= until:
                return
            batch = turns[start : start + _BATCH]
            read = [both_ends(texts[turn], _REACH, " … ") for turn in batch]
            scores.update(zip(batch, _scored(encoder, query, read), strict=True))

    def _prepare(self) -> None:
        with suppress(RerankerUnavailable):  # reported when it is used
            self._encoder()

    def _encoder(self) -> CrossEncoder:
        with self._lock:
            if self._loaded is None:
                try:
                    self._loaded = self._load()
                except RerankerUnavailable as error:
                    self._loaded = error
        if isinstance(self._loaded, RerankerUnavailable):
            raise RerankerUnavailable(self._loaded.what)
        return self._loaded


def _scored(encoder: CrossEncoder, query: str, texts: Sequence[str]) -> Sequence[float]:
    try:
        scores = [float(score) for score in encoder.scores(query, texts)]
    except Exception as error:  # each library has its own exceptions
        raise RerankerUnavailable(f"its model fails ({type(error).__name__})") from error
    if len(scores) != len(texts) or not all(map(isfinite, scores)):
        raise RerankerUnavailable("its model gives no scores")
    return scores


def merge_scores(retrieval: Retrieval, scores: Mapping[int, float], report: Reranking) -> Retrieval:
    """Add the scores, by turn, as a part; turns that then reach the floor are picked, best first.

    The scores are standardised and scaled to the spread of the shortlist's scores. A turn that was
    not read keeps its score.
    """
    before = sorted(retrieval.candidates, key=lambda row: row.rank)
    mean, deviation = fmean(scores.values()), pstdev(scores.values())
    unit = pstdev(row.score for row in before) / deviation if deviation else 0.0
    added = {turn: unit * (score - mean) for turn, score in scores.items()}
    scored = [_with_part(row, added.get(row.turn)) for row in before]
    after = sorted(scored, key=lambda row: (-row.score, row.rank))
    rows = tuple(replace(row, rank=rank) for rank, row in enumerate(after, start=1))
    hits = tuple(_hits(rows, retrieval))
    picked = {hit.turn for hit in hits}
    left = {hit.turn for hit in (*retrieval.hits, *retrieval.beyond)} - picked
    return replace(
        retrieval,
        candidates=rows,
        hits=hits,
        beyond=tuple(row.by_rank for row in rows if row.turn in left),
        reranking=report,
    )


def _with_part(row: Candidate, value: float | None) -> Candidate:
    if value is None:
        return replace(row, rank_before=row.rank)
    parts = (*row.parts, (RERANKER, value))
    return replace(row, score=row.score + value, parts=parts, rank_before=row.rank)


def _hits(rows: Sequence[Candidate], before: Retrieval) -> Iterator[Hit]:
    """Pick the turns that reach the floor, except those above it before that were not hits."""
    reasons = {hit.turn: hit.reason for hit in before.hits}
    kept_out = {
        row.turn
        for row in before.candidates
        if row.score >= before.floor and row.turn not in reasons
    }
    for row in rows:
        if row.score >= before.floor and row.turn not in kept_out:
            reason = reasons.get(row.turn, "raised by the reranker")
            if row.rank != row.rank_before:
                reason = f"{reason.removeprefix('best ')}, rank {row.rank_before} → {row.rank}"
            yield Hit(row.turn, row.score, reason)
