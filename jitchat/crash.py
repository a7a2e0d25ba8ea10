"""The report of a defect: what failed and where, without anybody's text and without keys.

No locals, no arguments: frames as file, line and function, and the error's own words with
everything in them that looks like a key blotted out.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterable
from pathlib import Path

_LOOKS_LIKE_A_KEY = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|key|tok)[-_][\w-]{8,}|\bAIza[\w-]{10,}|(?i:bearer)\s+\S+"
    r"|(?i:x-api-key|api[-_]?key|authorization)\W{1,4}\S+"
)


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without the secrets that are known and without what looks like one."""
    for secret in secrets:
        if len(secret) > 3:
            text = text.replace(secret, "•••")
    return _LOOKS_LIKE_A_KEY.sub("•••", text)


def crash_report(error: BaseException, version: str, secrets: Iterable[str] = ()) -> str:
    """The report as text."""
    secrets = tuple(secrets)
    lines = [f"jitchat {version}"]
    link: BaseException | None = error
    while link is not None:
        lines.append(f"{type(link).__name__}: {redacted(str(link), secrets)[:500]}")
        for frame in traceback.extract_tb(link.__traceback__):
            lines.append(f"  {_short(frame.filename)}:{frame.lineno} in {frame.name}")
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
        if link is not None:
            lines.append("after")
    return "\n".join(lines) + "\n"


def write_crash(path: Path, report: str) -> bool:
    """Leave the report in a file that only the user can read; whether that worked."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(report)
    except OSError:
        return False
    return True


def _short(filename: str) -> str:
    """The part of a path that says which module it is, not whose machine."""
    parts = Path(filename).parts
    for anchor in ("jitchat", "site-packages"):
        if anchor in parts:
            return "/".join(parts[len(parts) - 1 - parts[::-1].index(anchor) :])
    return parts[-1] if parts else filename
