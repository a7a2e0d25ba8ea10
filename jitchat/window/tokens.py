"""Counting tokens: with tiktoken if its vocabulary is on this machine, else by estimate.

tiktoken downloads a missing vocabulary, without a timeout, and deletes a damaged one. So it is not
called unless the cached file exists and has the right hash.
"""

import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jitchat.values import Message
from jitchat.window.budget import PER_MESSAGE, PER_REQUEST
from jitchat.window.tool_prices import Style

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
"""By encoding: the file's name in tiktoken's cache (SHA-1 of its URL), and its SHA-256."""
_SAME_RANKS = {"o200k_harmony": "o200k_base"}
"""Encodings that differ only in special tokens, which are never counted as such."""
_FALLBACK = "o200k_base"
_LONGEST_PIECE = 20_000
"""In characters. Keeps the time linear in the text, however an encoder handles a run without a
break (tiktoken was quadratic in its length)."""
_SHORT, _REMEMBERED = 1_000, 8_192
"""Counts of texts up to this many characters are cached, up to this many of them: as the user
types, the same texts come up again."""
_TRIES = 200
"""Blanks that are tried as a place to cut."""


class TokenCounter(Protocol):
    """Counts the tokens of a text, deterministically."""

    @property
    def name(self) -> str:
        """The counter's name, as shown on screen."""

    @property
    def exact(self) -> bool:
        """Whether this is the model's own tokenizer; numbers are shown with `~` if not."""

    @property
    def style(self) -> Style:
        """How the model's prompt represents tools."""

    def count(self, text: str) -> int:
        """Count the tokens of `text` alone."""


class EstimateCounter:
    name = "estimate"
    exact = False

    def __init__(self, style: Style = Style.LISTED) -> None:
        self.style = style

    def count(self, text: str) -> int:
        """Estimate the tokens, as o200k_base would count them."""
        return _remembered(text) if len(text) <= _SHORT else _estimated(text)


def _estimated(text: str) -> int:
    from jitchat.window.estimate import estimate  # noqa: PLC0415  not before the first frame

    return estimate(text)


_remembered = lru_cache(maxsize=_REMEMBERED)(_estimated)


class TiktokenCounter:
    def __init__(
        self, encoding: "tiktoken.Encoding", style: Style = Style.LISTED, *, exact: bool
    ) -> None:
        self._encoding = encoding
        self._counted = lru_cache(maxsize=_REMEMBERED)(self._count)
        self.name, self.style = encoding.name, style
        self.exact = exact

    def count(self, text: str) -> int:
        """Count the tokens of `text`; special tokens in it are plain text."""
        return self._counted(text) if len(text) <= _SHORT else self._count(text)

    def _count(self, text: str) -> int:
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Split where the encodings split too, so that the pieces count like the whole."""
    start = 0
    while len(text) - start > _LONGEST_PIECE:
        end = _cut(text, start + _LONGEST_PIECE // 2, start + _LONGEST_PIECE)
        yield text[start:end]
        start = end
    yield text[start:]


def _cut(text: str, low: int, high: int) -> int:
    """Find a late place before a single blank, else after a line's end, else `high`."""
    for mark, width in ((" ", 0), ("\n", 1)):
        place = high
        for _ in range(_TRIES):
            place = text.rfind(mark, low, place)
            if place <= low:
                break
            if text[place - 1].isalnum() and text[place + 1].isalnum():
                return place + width
    return high


def counter_for(
    model: str, environ: Mapping[str, str], style: Style = Style.LISTED
) -> TokenCounter:
    """Choose the best counter for `model` that needs no network.

    `environ` is the process's environment, which tiktoken reads too. `reader` has no tokenizer and
    counts as the counter does, so any real vocabulary is exact for it.
    """
    import tiktoken  # noqa: PLC0415  15 ms, and the vocabulary 250 ms

    wanted = []
    with suppress(KeyError):
        name = tiktoken.encoding_name_for_model(model)
        wanted = [(_SAME_RANKS.get(name, name), True)]
    for encoding, exact in (*wanted, (_FALLBACK, model == "reader")):
        if vocabulary_cached(encoding, environ):
            return TiktokenCounter(tiktoken.get_encoding(encoding), style, exact=exact)
    return EstimateCounter(style)


def vocabulary_cached(encoding: str, environ: Mapping[str, str]) -> bool:
    """Whether tiktoken will find this vocabulary, undamaged, without using the network."""
    name, sha256 = _CACHED_AS.get(encoding, ("", ""))
    usual = str(Path(tempfile.gettempdir()) / "data-gym-cache")
    # where tiktoken looks, in the same order; an empty name disables its cache
    folder = environ.get("TIKTOKEN_CACHE_DIR", environ.get("DATA_GYM_CACHE_DIR", usual))
    if not folder or not name:
        return False
    try:
        content = Path(folder, name).read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == sha256


def message_tokens(counter: TokenCounter, text: str) -> int:
    """Count a message that has neither calls nor a result."""
    return counter.count(text) + PER_MESSAGE


def request_tokens(counter: TokenCounter, messages: Sequence[Message]) -> int:
    """Count messages that have neither calls nor results."""
    return sum(message_tokens(counter, message.content) for message in messages) + PER_REQUEST
