"""Attachments of imported messages: kept if the export contains them, otherwise only named."""

import base64
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from urllib.parse import unquote, unquote_to_bytes

from jitchat.attachments import Attachment
from jitchat.errors import FileRefused, ImportFailed
from jitchat.files.load import attachment_of
from jitchat.files.office import is_office
from jitchat.files.pictures import picture_size
from jitchat.store.imported import IncomingFile
from jitchat.text.sanitize import one_line, repair
from jitchat.transfer.incoming import NOT_KEPT, Tally
from jitchat.transfer.pieces import LONGEST_NAME, Piece, attachment
from jitchat.transfer.source import Source

_NO_TEXT = ("image", "audio", "video")


def file_piece(
    tally: Tally, kind: str, name: str, read: Callable[[], bytes] | None, detail: str = ""
) -> Piece:
    """Return a file with its contents, or only its name if `read` is None.

    `read` returns the bytes; it is None if the export does not contain the file. `kind` is
    `image`, `file` or whatever else the program calls it.
    """
    named = attachment(kind, name, detail)
    if read is None:
        tally.change(NOT_KEPT)
        return named
    return IncomingFile(named.text, named.text, partial(_load, tally, kind, name or kind, read))


def text_piece(tally: Tally, name: str, content: str) -> Piece:
    """Return an attached text as a file; if it cannot be stored as one, it is quoted in full."""
    named = one_line(name)[:LONGEST_NAME] or "text"
    quoted = f"[file: {named}]\n{content}\n[end of {named}]"
    shown = f"{named}.txt" if is_office(named) else named  # the other program extracted the text
    read = repair(content).encode
    return IncomingFile(f"[file: {named}]", quoted, partial(_load, tally, "file", shown, read))


def url_piece(tally: Tally, kind: str, name: str, url: str, detail: str = "") -> Piece:
    """Return the contents of a data URL (`data:image/png;base64,…`), or the name for other URLs."""
    if url.startswith("data:"):
        is_empty = url.endswith((":", ","))
        tally.account_for(url if is_empty else "")
        return file_piece(tally, kind, name, None if is_empty else partial(_decoded, url), detail)
    is_address = url.startswith(("http://", "https://", "file://"))
    if is_address and not name:
        name = unquote(url.partition("?")[0].rstrip("/").rpartition("/")[2])
    details = (one_line(url) if is_address else "", detail)
    return file_piece(tally, kind, name, None, ", ".join(part for part in details if part))


def base64_piece(tally: Tally, kind: str, name: str, data: str) -> Piece:
    return file_piece(tally, kind, name, partial(_decoded, data) if data else None)


def _decoded(encoded: str) -> bytes:
    """Decode a data URL or base64."""
    head, comma, data = encoded.partition(",")
    is_url = bool(comma) and head.startswith("data:")
    if is_url and not head.endswith(";base64"):
        return unquote_to_bytes(data)
    return base64.b64decode(data if is_url else encoded)


def reader_of(source: Source, prefix: str) -> Callable[[], bytes] | None:
    """Return a reader for the file next to the conversations whose name starts with `prefix`.

    None if there is no such file.
    """
    file = source.beside(prefix)
    return None if file is None else partial(source.read_beside, file)


def _load(tally: Tally, kind: str, name: str, read: Callable[[], bytes]) -> Attachment | None:
    with suppress(FileRefused, ImportFailed, ValueError):
        data, shown = read(), one_line(name)[:LONGEST_NAME]
        if "." not in shown and (seen := picture_size(data)) is not None:
            shown += f".{seen[0].partition('/')[2]}"
        file = attachment_of(shown, data)
        if file.picture is not None or kind not in _NO_TEXT:
            return file
    tally.change(NOT_KEPT, getattr(read, "args", ()))  # of a partial: the text that it decodes
    return None
