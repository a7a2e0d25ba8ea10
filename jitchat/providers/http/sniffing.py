"""How a body is framed: its first character tells, for a content type may be missing or wrong.

A type that promises lines is believed as long as the body is JSON, and one that promises a web
page as long as it is not plainly something else.
"""

from __future__ import annotations

import re

from jitchat.errors import NotAnAnswer
from jitchat.providers.http.framing import BOM, Decoder
from jitchat.providers.http.ndjson import LineDecoder, ValueDecoder
from jitchat.providers.http.sse import SseDecoder
from jitchat.providers.protocols.refusals import CHECK_URL

_LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_MOST_BLANKS = 64 << 10
_STREAM = re.compile(rb":|(?:data|event|id|retry):")
_LONGEST_FIELD = len(b"event:")


def media_type(content_type: str) -> str:
    """Take a content type without its parameters; empty where there is none."""
    return content_type.partition(";")[0].strip().lower()


def decoder_for(start: bytes, media: str, *, whole: bool) -> Decoder | None:
    """Choose what reads the body that begins with `start`; None as long as that is not known.

    `whole` says that nothing more will come.

    Raises:
        NotAnAnswer: It is a web page.

    """
    seen = start.removeprefix(BOM).lstrip()
    if not (whole or _tells(seen, media) or len(start) > _MOST_BLANKS):
        return None
    if seen[:1] in (b"{", b"["):
        return LineDecoder() if seen[:1] == b"{" and media in _LINES else ValueDecoder()
    if seen[:1] == b"<" or (media in _PAGES and not _STREAM.match(seen)):
        what = "The server answered with a web page, not with a model's answer."
        raise NotAnAnswer(what, CHECK_URL)
    return SseDecoder()


def _tells(seen: bytes, media: str) -> bool:
    if BOM.startswith(seen):  # or nothing yet, or a byte order mark that is not whole
        return False
    is_clear = media not in _PAGES or seen[:1] in (b"{", b"[", b"<", b":")
    return is_clear or len(seen) >= _LONGEST_FIELD
