"""Golden files of complete requests for one window, with the key redacted.

`JITCHAT_WRITE_GOLDEN=1 pytest tests/providers` writes the files anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jitchat.providers.protocols.protocol import USER_AGENT
from jitchat.providers.provider import Options
from jitchat.values import Message, Role
from tests.providers.requested import requested

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

    from jitchat.providers.provider import Endpoint, WireProtocol

GOLDEN = Path(__file__).parent / "golden"
WRITE = "JITCHAT_WRITE_GOLDEN" in os.environ
KEY = "sk-canary-5f3a9e0c7d2b"
WINDOW = (
    Message(Role.SYSTEM, "Be brief."),
    Message(Role.USER, "[Mon 2026-03-02]\nWhen do we deploy?", 1),
    Message(Role.ASSISTANT, "Tuesday, 02:00 UTC.", 2),
    Message(Role.USER, "Danke, schön 😀", 3),
    Message(Role.USER, "<index>\n#9 2026-03-02 user: “tea”\n</index>\n"),
    Message(Role.USER, "And the second line\nof what I ask?"),
)
"""With what protocols treat differently: a system text, and one side several times in a row."""
ALL_OPTIONS = Options(
    temperature=0.2,
    top_p=0.9,
    top_k=40,
    seed=7,
    effort="low",
    max_tokens=500,
    context=8_192,
    room=6_000,
)


def require_golden(
    name: str,
    protocol: WireProtocol,
    where: Endpoint,
    options: Options | None = None,
    window: Sequence[Message] = WINDOW,
) -> None:
    """Fail unless the request for the window is the one in `golden/NAME.json`."""
    text = written(requested(protocol, where, window, options or Options()))
    path = GOLDEN / f"{name}.json"
    if WRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def written(request: httpx.Request) -> str:
    """Write a request down, its body's keys in the order in which they are sent."""
    value: dict[str, Any] = {
        "method": request.method,
        "url": str(request.url),
        "headers": dict(sorted(request.headers.items())),
        "body": json.loads(request.content),
    }
    text = json.dumps(value, ensure_ascii=False, indent=2).replace(KEY, "•••") + "\n"
    return text.replace(USER_AGENT, "jitchat/VERSION")
