"""Converting windows to plain data, for the cold store and for JSON, and back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from jitchat.attachments import Picture
from jitchat.statements import Source
from jitchat.tool_fields import use_fields, use_from
from jitchat.values import Mode, Picking, RecallOrder, Reranking, Role, ToolUse
from jitchat.window.budget import Budget
from jitchat.window.window import (
    ContextWindow,
    ElsewhereRow,
    Excerpt,
    FileRef,
    FileRow,
    HeldResult,
    Kind,
    LedgerRow,
    NeverCandidates,
    Passage,
    Requested,
    Segment,
    ToolLeftOut,
    Verdict,
)

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
    return header | tools_fields(window)


def tools_fields(window: ContextWindow) -> Fields:
    """Describe tools not offered, requests, held results, other conversations and files."""
    left_out = [asdict(each) for each in window.tools_left_out]
    elsewhere = [asdict(each) | {"verdict": each.verdict.value} for each in window.elsewhere]
    requests = [asdict(each) for each in window.requests]
    held = [asdict(each) for each in window.held]
    lists = {"requests": requests, "held": held, "tools_left_out": left_out}
    lists["elsewhere"] = elsewhere
    lists["files"] = [
        asdict(each) | {"file": file_fields(each.file), "verdict": each.verdict.value}
        for each in window.files
    ]
    return {name: each for name, each in lists.items() if each}


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
    """Describe a segment; its excerpt, source, file and tool use only if it has them."""
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
    if segment.source is not None:
        described["source"] = asdict(segment.source)
    if segment.file is not None:
        described["file"] = file_fields(segment.file)
    return described | _use_fields(segment.use)


def file_fields(file: FileRef) -> Fields:
    """Describe a file; the bytes of a picture are kept by the store."""
    picture = file.picture
    described = None if picture is None else [picture.media_type, picture.width, picture.height]
    return asdict(replace(file, picture=None)) | {"picture": described}


def _use_fields(use: ToolUse) -> Fields:
    return {"use": use_fields(use)} if use else {}


def ledger_fields(row: LedgerRow) -> Fields:
    fields = asdict(row) | {"parts": dict(row.parts), "verdict": row.verdict.value}
    if row.rank_before is None:
        del fields["rank_before"]
    return fields


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
    picking, never = header.get("picking"), header.get("never_candidates")
    reranking = header.get("reranking")
    return ContextWindow(
        mode=Mode(header["mode"]),
        model=header["model"],
        counter=header["counter"],
        exact=header["exact"],
        budget=Budget(**{"order": RecallOrder.DATE} | header["budget"]),
        segments=tuple(_segment(fields) for fields in segments),
        ledger=tuple(_ledger_row(fields) for fields in ledger),
        never_candidates=NeverCandidates(**never) if never else None,
        full_tokens=header["full_tokens"],
        counted=header.get("counted", sum(fields["tokens"] for fields in segments)),
        band=header.get("band", 0),
        floor=header.get("floor"),
        picking=Picking(**picking) if picking else None,
        reranking=Reranking(**reranking) if reranking else None,
        needless=header.get("needless", ""),
        distilled_through=header.get("distilled_through", 0),
        requests=tuple(map(_requested, header.get("requests", ()))),
        held=tuple(HeldResult(**each) for each in header.get("held", ())),
        tools_left_out=tuple(ToolLeftOut(**each) for each in header.get("tools_left_out", ())),
        elsewhere=tuple(map(_elsewhere_row, header.get("elsewhere", ()))),
        not_searched=header.get("not_searched", 0),
        files=tuple(map(_file_row, header.get("files", ()))),
    )


def _requested(fields: Mapping[str, Any]) -> Requested:
    given = tuple((int(turn), float(score)) for turn, score in fields["given"])
    elsewhere = {"elsewhere": tuple(fields.get("elsewhere", ()))}
    return Requested(**{**fields, "given": given, "named": tuple(fields["named"]), **elsewhere})


def _segment(fields: Mapping[str, Any]) -> Segment:
    kind, role, excerpt = Kind(fields["kind"]), Role(fields["role"]), fields.get("excerpt")
    text, tokens, turn, reason = (fields[name] for name in ("text", "tokens", "turn", "reason"))
    passages, use = _excerpt(excerpt) if excerpt else None, use_from(fields.get("use", {}))
    source = Source(**fields["source"]) if fields.get("source") else None
    file = _file(fields["file"]) if fields.get("file") else None
    return Segment(kind, role, text, tokens, turn, reason, passages, use, source, file)


def _file(fields: Mapping[str, Any]) -> FileRef:
    file = FileRef(**{**fields, "picture": None})
    if fields["picture"] is None:
        return file
    return replace(file, picture=Picture(file.name, file.digest, *fields["picture"]))


def _file_row(fields: Mapping[str, Any]) -> FileRow:
    verdict, file = Verdict(fields["verdict"]), _file(fields["file"])
    return FileRow(**{**fields, "file": file, "verdict": verdict})


def _excerpt(fields: Mapping[str, Any]) -> Excerpt:
    passages = tuple(Passage(**passage) for passage in fields["passages"])
    return Excerpt(passages, tuple(fields["left_out"]))


def _elsewhere_row(fields: Mapping[str, Any]) -> ElsewhereRow:
    return ElsewhereRow(**{**fields, "verdict": Verdict(fields["verdict"])})


def _ledger_row(fields: Mapping[str, Any]) -> LedgerRow:
    parts, verdict = tuple(fields["parts"].items()), Verdict(fields["verdict"])
    return LedgerRow(**{**fields, "parts": parts, "verdict": verdict})
