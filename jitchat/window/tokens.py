"""Counting tokens: by tiktoken where its vocabulary is on this machine, else by estimate.

tiktoken fetches a vocabulary that it lacks, without a timeout, and deletes one that is
damaged. So it is never asked before the cached file is there and has the right hash.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jitchat.turn import Message
from jitchat.window.budget import PER_MESSAGE, PER_REQUEST
from jitchat.window.estimate import estimate

if TYPE_CHECKING:
    import tiktoken

_CACHED_AS = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
"""Encoding: the file's name in tiktoken's cache (SHA-1 of its address), its SHA-256."""
_FALLBACK = "o200k_base"
_LONGEST_PIECE = 20_000
"""tiktoken is quadratic in a run without a break; longer texts are counted in pieces."""


class TokenCounter(Protocol):
    """Counts the tokens of a text, deterministically."""

    @property
    def name(self) -> str:
        """What counts, as shown on screen."""

    @property
    def exact(self) -> bool:
        """Whether this is the model's own tokenizer; numbers are shown with `~` if not."""

    def count(self, text: str) -> int:
        """Tokens of `text` alone."""


class EstimateCounter:
    """Counts without any vocabulary."""

    name = "estimate"
    exact = False

    def count(self, text: str) -> int:
        """Estimated tokens, as o200k_base would count them."""
        return estimate(text)


class TiktokenCounter:
    """Counts with one of tiktoken's encodings."""

    def __init__(self, encoding: tiktoken.Encoding, *, exact: bool) -> None:
        self._encoding = encoding
        self.name = encoding.name
        self.exact = exact

    def count(self, text: str) -> int:
        """Tokens of `text`; special tokens in it are counted as the plain text they are."""
        if len(text) <= _LONGEST_PIECE:
            return len(self._encoding.encode_ordinary(text))
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))


def _pieces(text: str) -> list[str]:
    """Cut at white space where there is some, so that the pieces count like the whole."""
    pieces: list[str] = []
    start = 0
    while len(text) - start > _LONGEST_PIECE:
        end = start + _LONGEST_PIECE
        blank = max(text.rfind(mark, start + _LONGEST_PIECE // 2, end) for mark in ("\n", " "))
        if blank > start:
            end = blank + 1 if text[blank] == "\n" else blank
        pieces.append(text[start:end])
        start = end
    return [*pieces, text[start:]]


def counter_for(model: str, environ: Mapping[str, str]) -> TokenCounter:
    """The best counter for `model` that needs no network.

    `reader` has no tokenizer and counts as the counter does, so either is exact for it only
    where it is a real vocabulary.
    """
    import tiktoken  # noqa: PLC0415  15 ms, and the vocabulary 250 ms

    try:
        encoding, exact = tiktoken.encoding_name_for_model(model), True
    except KeyError:
        encoding, exact = _FALLBACK, model == "reader"
    if not vocabulary_cached(encoding, environ):
        return EstimateCounter()
    return TiktokenCounter(tiktoken.get_encoding(encoding), exact=exact)


def vocabulary_cached(encoding: str, environ: Mapping[str, str]) -> bool:
    """Whether tiktoken will find this vocabulary, undamaged, without asking the network."""
    if encoding not in _CACHED_AS:
        return False
    name, sha256 = _CACHED_AS[encoding]
    try:
        content = (_cache_folder(environ) / name).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == sha256


def _cache_folder(environ: Mapping[str, str]) -> Path:
    """Where tiktoken looks, in its own order."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in environ:
            return Path(environ[variable])
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def message_tokens(counter: TokenCounter, text: str) -> int:
    """The tokens of one message: its text and what the protocol adds."""
    return counter.count(text) + PER_MESSAGE


def request_tokens(counter: TokenCounter, messages: tuple[Message, ...]) -> int:
    """The tokens of a whole request."""
    return sum(message_tokens(counter, message.content) for message in messages) + PER_REQUEST
