"""Windows that the version before written windows stored: read, replayed and explained as then.

`earlier_windows.db.xz` has 37 of them: five modes, pinned, excluded and requested turns, versions,
facts, observations, a document, tools with large results, files, pictures, other conversations.
`earlier_windows.json` has hashes of what that version made of each.
"""

from __future__ import annotations

import json
import lzma
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from jitchat.memory import Memory
from jitchat.replay import Replay
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.tui.views.wire import read_letter
from jitchat.why import Explained, why
from jitchat.window.message_text import message_texts
from tests.support import ROOT, session_on

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from jitchat.replay import Replayed

FOLDER = ROOT / "tests" / "data"
KNOWN = json.loads((FOLDER / "earlier_windows.json").read_text())


CONTENT = lzma.decompress((FOLDER / "earlier_windows.db.xz").read_bytes())


@pytest.fixture
def earlier(tmp_path: Path) -> Iterator[ColdStore]:
    path = tmp_path / "earlier.db"
    path.write_bytes(CONTENT)
    with closing(Database(path)) as database:
        yield ColdStore(database)


def hash_of(value: object) -> str:
    return sha256(json.dumps(value).encode()).hexdigest()


def what_is_said(memory: Memory, replayed: Replayed) -> list[str]:
    """Explain each turn; what is ranked with today's index may change."""
    explained = Explained(replayed.window, replayed.said.content, replayed.said)
    last = memory.store.tree(memory.conversation.id).last
    said = [str(why(memory, explained, turn)) for turn in range(1, last + 1)]
    changed = ("today's index", "jitchat's own tools")
    return [each for each in said if not any(part in each for part in changed)]


def windows_of(earlier: ColdStore) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for conversation in dict.fromkeys(each["conversation"] for each in KNOWN):
        memory = Memory(earlier, earlier.conversation(conversation))
        replay = Replay(earlier, conversation)
        for send in replay.sends():
            replayed = replay.open(send)
            window = replayed.window
            assert replayed.is_as_sent
            assert not window.pieces
            segments = [
                [each.kind.value, each.turn, each.role.value, each.tokens, each.reason, each.text]
                for each in window.segments
            ]
            rows = [
                [row.turn, row.rank, row.tokens, row.verdict.value, row.reason]
                for row in window.ledger
            ]
            messages = [[each.role.value, each.content] for each in window.messages()]
            found.append(
                {
                    "conversation": conversation,
                    "said": send.said,
                    "digest": replayed.digest,
                    "segments": hash_of(segments),
                    "ledger": hash_of(rows),
                    "messages": hash_of(messages),
                    "why": hash_of(what_is_said(memory, replayed)),
                }
            )
    return found


def test_windows_of_the_version_before_are_what_they_were(earlier: ColdStore):
    assert windows_of(earlier) == KNOWN


def test_a_request_of_the_version_before_is_shown_as_its_messages(earlier: ColdStore):
    session = session_on(earlier, earlier.conversation("chat-2"))
    replayed = Replay(earlier, "chat-2").open(session.memory.archive.sends("chat-2")[0])
    letter = read_letter(session, replayed.window, replayed.said)
    assert letter.wire is None
    assert letter.summary == "Sent by an earlier version of jitchat: these are its messages."
    contents = [each["content"] for each in json.loads(letter.body)]
    assert contents == [message.content for message in replayed.window.messages()]
    printed = "\n".join(message_texts(replayed.window))
    assert all(content in printed for content in contents)


def test_a_database_of_the_version_before_becomes_smaller(tmp_path: Path):
    path = tmp_path / "earlier.db"
    path.write_bytes(CONTENT)
    Database(path).close()
    assert path.stat().st_size < 0.75 * len(CONTENT)
