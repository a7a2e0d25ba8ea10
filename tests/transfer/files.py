"""Small files in every supported format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jitchat.errors import ImportFailed
from jitchat.transfer.formats import conversations_of, note_failure, picked
from jitchat.transfer.import_run import Taken, require_turns, take_all
from jitchat.transfer.json_text import NotJson
from jitchat.transfer.source import open_source
from jitchat.transfer.turns import FileConversation

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.store.store import ColdStore

POISON = "POISON: the answer is forty-two"


def locomo_sample(name: str = "conv-1", **changes: object) -> dict[str, Any]:
    """A conversation in LoCoMo's format; fields that must not be read have recognizable text."""
    talk: dict[str, Any] = {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_2_date_time": "1:14 pm on 25 May, 2023",
        "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "Ten days later."}],
        "session_10_date_time": "12:05 am on 1 June, 2023",
        "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "The last one."}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello Bo."},
            {
                "speaker": "Bo",
                "dia_id": "D1:2",
                "text": "Look at this!",
                "blip_caption": "a photo of a red kite",
                "query": POISON,
                "img_url": [POISON],
            },
        ],
        "session_11_date_time": "1:00 pm on 2 June, 2023",
    }
    return {
        "sample_id": name,
        "conversation": talk | changes,
        "qa": [{"question": POISON, "answer": POISON}],
        "observation": {"session_1_observation": {"Ann": [[POISON, "D1:1"]]}},
        "event_summary": {"events_session_1": {"Ann": [POISON]}},
        "session_summary": {"session_1_summary": POISON},
    }


def plain_turns(count: int = 4) -> list[dict[str, Any]]:
    """Alternating user and assistant turns, a minute apart."""
    return [
        {
            "role": "assistant" if number % 2 else "user",
            "content": f"This is message number {number} about the harbour.",
            "created_at": f"2026-03-02T09:{number % 60:02}:00+00:00",
        }
        for number in range(count)
    ]


def jsonl(items: list[Any]) -> str:
    """Write one item per line."""
    return "".join(f"{json.dumps(item)}\n" for item in items)


def brief(value: object) -> str:
    """Return a short id for a test parameter, which can be huge."""
    return repr(value)[:40]


def written(folder: Path, name: str, content: object) -> Path:
    """Write a file with bytes, text, or a value as JSON; return its path."""
    path = folder / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def read_file(path: Path, pick: str | None = None) -> list[FileConversation]:
    """Return all conversations of a source, in memory, as an import would read them."""
    source = open_source(path)
    found = conversations_of(source)
    read = []
    for each in require_turns(picked(found, pick, source) if pick is not None else found, source):
        try:
            turns = tuple(incoming.turn for incoming in each.read())
        except (NotJson, ImportFailed) as error:
            note_failure(source, error)
            continue
        title = each.heading().title
        skipped, changed = dict(each.tally.skipped), dict(each.tally.changed)
        read.append(FileConversation(each.id, title, turns, skipped, changed))
    return read


def take(store: ColdStore, path: Path, *, is_whole: bool = True) -> list[Taken]:
    """Import a source; fail if a text of it is nowhere, unless it has such texts."""
    source = open_source(path)
    taken = list(take_all(store, require_turns(conversations_of(source), source), source))
    lost = [example for conversation in taken for example in conversation.census.examples]
    assert not (is_whole and lost), lost
    return taken
