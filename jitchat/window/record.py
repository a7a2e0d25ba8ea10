"""Converting windows to plain data, for the cold store and for JSON, and back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from jitchat.tool_fields import use_fields
from jitchat.typed_data import read
from jitchat.values import Form, RecallOrder, ToolUse
from jitchat.window.budget import Budget
from jitchat.window.window import ContextWindow, FileRef, Kind, LedgerRow, OtherRow, Segment
from jitchat.writing.pieces import Part

Fields = dict[str, Any]


def header_fields(window: ContextWindow) -> Fields:
    """Describe everything but the segments and the rows of the ledger."""
    header = {
        "mode": window.mode.value,
        "model": window.model,
        "counter": window.counter,
        "exact": window.exact,
        "budget": asdict(window.budget),
        "full_tokens": window.full_tokens,
        "counted": window.counted,
        "band": window.band,
        "floor": window.floor,
        "never_candidates": never_candidates_fields(window),
    } | choosing_fields(window)
    return header | other_fields(window)


def other_fields(window: ContextWindow) -> Fields:
    """Describe requests, held results, and what was considered besides the turns in the ledger."""
    requests = [asdict(each) for each in window.requests]
    held = [asdict(each) for each in window.held]
    lists = {"requests": requests, "held": held}
    lists["others"] = [_other_fields(row) for row in window.others]
    return {name: each for name, each in lists.items() if each}


def _other_fields(row: OtherRow) -> Fields:
    """Describe a row by the fields that say something."""
    described: Fields = {
        "kind": row.kind.value,
        "name": row.name,
        "tokens": row.tokens,
        "verdict": row.verdict.value,
        "reason": row.reason,
        "score": row.score,
        "title": row.title,
        "file": None if row.file is None else file_fields(row.file),
        "source": None if row.source is None else asdict(row.source),
    }
    return {name: value for name, value in described.items() if value or name == "tokens"}


def _others_from(header: Mapping[str, Any]) -> Iterator[Fields]:
    """Read the rows of a header; earlier versions had a list for each kind."""
    for row in header.get("elsewhere", ()):
        source = {"first": row["turn"], "last": row["turn"], "conversation": row["conversation"]}
        name = f"{row['conversation']}#{row['turn']}"
        yield {**row, "kind": Kind.RETRIEVED.value, "name": name, "source": source}
    for row in header.get("files", ()):
        file = row["file"]
        kind = Kind.DOCUMENTS if file["locator"] else Kind.FILES
        name = f"{file['name']} {file['locator']}".rstrip()
        yield {**row, "kind": kind.value, "name": name}
    for row in header.get("tools_left_out", ()):
        yield {**row, "kind": Kind.TOOLS.value}
    yield from header.get("others", ())


def choosing_fields(window: ContextWindow) -> Fields:
    """Describe how the turns were chosen, in addition to the scores, without unused steps."""
    steps = {"picking": window.picking, "reranking": window.reranking}
    used: Fields = {name: asdict(step) for name, step in steps.items() if step is not None}
    names = ("needless", "distilled_through", "not_searched")
    others = {name: getattr(window, name) for name in names}
    return used | {name: each for name, each in others.items() if each}


def never_candidates_fields(window: ContextWindow) -> Fields | None:
    """Describe the sum of the turns that were never considered; None if there are none."""
    return asdict(window.never_candidates) if window.never_candidates is not None else None


def segment_fields(segment: Segment) -> Fields:
    """Describe a segment; its excerpt, source, file and tool use only if it has them.

    The text of a segment that was written is in its pieces.
    """
    described: Fields = {
        "kind": segment.kind.value,
        "turn": segment.turn,
        "role": segment.role.value,
        "tokens": segment.tokens,
        "reason": segment.reason,
        "text": segment.text,
    }
    if segment.excerpt is not None:
        described["excerpt"] = asdict(segment.excerpt)
    if segment.form is not Form.WHOLE:
        described |= {"form": segment.form.value, "whole": segment.whole}
    if segment.source is not None:
        described["source"] = asdict(segment.source)
    if segment.carrier is not None:
        described["carrier"] = segment.carrier
    if segment.unwritten is not None:
        described["unwritten"] = segment.unwritten
    if segment.file is not None:
        described["file"] = file_fields(segment.file)
    if segment.pieces:
        del described["text"]
        described["pieces"] = list(_pieces_fields(segment))
    return described | _use_fields(segment.use)


def _pieces_fields(segment: Segment) -> Iterator[Fields]:
    """Describe pieces; what is as in the segment, or as in the piece before, is left out."""
    use = segment.use
    for piece in segment.pieces:
        described: Fields = {
            "message": piece.message,
            "tokens": piece.tokens,
            "text": piece.text,
        }
        if piece.place:
            described["place"] = piece.place
        if piece.part is not Part.TEXT:
            described["part"] = piece.part.value
        if piece.role is not segment.role:
            described["role"] = piece.role.value
        if piece.turn is not None:
            described["turn"] = piece.turn
        if piece.use != use:
            described["use"] = use_fields(piece.use)
        use = piece.use
        yield described


def _pieces_from(segment: Mapping[str, Any], index: int) -> Iterator[Fields]:
    use: Fields = segment.get("use", {})
    picture = (_with_picture(segment).get("file") or {}).get("picture")
    for piece in segment["pieces"]:
        use = piece.get("use", use)
        of_segment = {"role": segment["role"], "segment": index, "use": use}
        is_picture = piece.get("part") == Part.PICTURE
        yield {**of_segment, **piece, "picture": picture if is_picture else None}


def _segment_from(segment: Mapping[str, Any], index: int) -> Fields:
    described = _with_picture(_known(Segment, segment))
    if "pieces" in segment:
        pieces = list(_pieces_from(segment, index))
        texts = (piece["text"] for piece in pieces if piece.get("part") != Part.OPAQUE)
        described |= {"pieces": pieces, "text": "".join(texts)}
    return described


def file_fields(file: FileRef) -> Fields:
    """Describe a file; the bytes of a picture are kept by the store."""
    picture = file.picture
    described = None if picture is None else [picture.media_type, picture.width, picture.height]
    return asdict(replace(file, picture=None)) | {"picture": described}


def _use_fields(use: ToolUse) -> Fields:
    return {"use": use_fields(use)} if use else {}


def ledger_fields(row: LedgerRow) -> Fields:
    described = asdict(row) | {"parts": dict(row.parts), "verdict": row.verdict.value}
    if row.rank_before is None:
        del described["rank_before"]
    return described


def messages_body(window: ContextWindow) -> bytes:
    messages = [
        {"role": each.role.value, "content": each.content} | _use_fields(each.use)
        for each in window.messages()
    ]
    return json.dumps(messages).encode()


def window_from(
    header: Mapping[str, Any],
    segments: Sequence[Mapping[str, Any]],
    ledger: Sequence[Mapping[str, Any]],
) -> ContextWindow:
    """Make the window that a header, segments and rows of the ledger describe.

    Fields that a header from an older version lacks get the value that held then: no correction of
    counts, an unknown floor, recalled turns in order of date.
    """
    described = _known(ContextWindow, header) | {
        "budget": _budget_from(header["budget"]),
        "never_candidates": header.get("never_candidates") or None,
        "counted": header.get("counted", sum(segment["tokens"] for segment in segments)),
        "segments": [_segment_from(segment, index) for index, segment in enumerate(segments)],
        "ledger": [{**row, "parts": list(row["parts"].items())} for row in ledger],
        "others": [_with_picture(_known(OtherRow, row)) for row in _others_from(header)],
    }
    return read(ContextWindow, described)


def _budget_from(given: Mapping[str, Any]) -> Fields:
    """Read a budget; in earlier versions, a window had no size but the model's."""
    earlier = {"order": RecallOrder.DATE, "size": given["limit"] - given["reserve"]}
    return earlier | _known(Budget, given)


def _known(
    kind: type[Budget | ContextWindow | Segment | OtherRow], given: Mapping[str, Any]
) -> Fields:
    """Leave out what only another version has."""
    return {field.name: given[field.name] for field in fields(kind) if field.name in given}


def _with_picture(described: Mapping[str, Any]) -> Fields:
    """Return what has a file with the fields of its picture."""
    file = described.get("file")
    if not file or file["picture"] is None:
        return {**described}
    media_type, width, height = file["picture"]
    size = {"media_type": media_type, "width": width, "height": height}
    picture = {"name": file["name"], "digest": file["digest"], **size}
    return {**described, "file": {**file, "picture": picture}}
