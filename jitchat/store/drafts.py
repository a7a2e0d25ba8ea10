"""Messages before and after they are sent: the draft of each conversation, and earlier prompts."""

import json
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from jitchat.attachments import Attachment
from jitchat.draft import GO_ON, Draft
from jitchat.errors import StoreError
from jitchat.paths import replace_file
from jitchat.store.attachments import FILE_COLUMNS, listed_file
from jitchat.store.database import Database, Records
from jitchat.text.sanitize import repair

_FILES = f"""
    SELECT 0, {FILE_COLUMNS} FROM draft_attachments f LEFT JOIN attachments a ON a.digest = f.digest
    WHERE f.conversation = ? ORDER BY f.number
"""  # noqa: S608  a constant
_PROMPTS = """
    SELECT id, content FROM turns WHERE id IN (SELECT turn FROM windows)
    AND conversation NOT IN (SELECT id FROM conversations WHERE temporary OR deleted_by)
    AND content <> ? ORDER BY id DESC LIMIT ?
"""
_FILES_OF_PROMPTS = f"""
    SELECT f.turn, {FILE_COLUMNS} FROM turn_attachments f JOIN attachments a ON a.digest = f.digest
    WHERE f.turn >= ? ORDER BY f.turn, f.number
"""  # noqa: S608  a constant


class Drafts(Records):
    """Messages that were written and not sent, one per conversation."""

    def get(self, conversation: str) -> Draft:
        query = "SELECT text, typed FROM drafts WHERE conversation = ?"
        row = self._database.fetch_one(query, (conversation,))
        if row is None:
            return Draft()
        files = [listed_file(file) for file in self._database.fetch_all(_FILES, (conversation,))]
        return Draft.matched(str(row[0]), bytes(row[1]).decode(), tuple(files))

    def put(self, conversation: str, draft: Draft) -> None:
        """Store a draft, replacing the previous one; an empty one deletes it."""
        with self._database.write() as connection:
            for table in ("drafts", "draft_attachments"):
                connection.execute(f"DELETE FROM {table} WHERE conversation = ?", (conversation,))  # noqa: S608  constants
            if draft:
                connection.execute(
                    "INSERT INTO drafts (conversation, text, typed)"
                    " SELECT id, ?, ? FROM conversations WHERE id = ?",
                    (repair(draft.text), draft.typed.encode("utf-8", "replace"), conversation),
                )
                connection.executemany(
                    "INSERT INTO draft_attachments"
                    " SELECT id, ?, ?, ?, ?, ? FROM conversations WHERE id = ?",
                    [
                        (number, file.digest, file.name, file.path, file.modified_at, conversation)
                        for number, file in enumerate(draft.files)
                    ],
                )

    def set_aside(self, conversation: str, draft: Draft) -> None:
        """Keep the text of a draft next to a database that cannot be written now."""
        left = json.dumps([conversation, repair(draft.text), draft.typed])
        with suppress(OSError):
            replace_file(self._aside, left.encode())

    def take_over(self) -> None:
        """Store a draft that was set aside; its files are those that were stored last."""
        with suppress(OSError, ValueError, StoreError):
            conversation, text, typed = json.loads(self._aside.read_bytes())
            files = self.get(conversation).files
            self.put(conversation, Draft.matched(text, typed, files))
            self._aside.unlink()

    @property
    def _aside(self) -> Path:
        return self._database.path.with_name(f"{self._database.path.name}.draft")


def sent_drafts(database: Database, limit: int) -> list[Draft]:
    """List the latest messages that the user sent here, in any conversation, the newest first."""
    files = defaultdict[int, list[Attachment]](list)
    prompts = database.fetch_all(_PROMPTS, (GO_ON, limit))
    for row in database.fetch_all(_FILES_OF_PROMPTS, (prompts[-1][0],)) if prompts else ():
        files[row[0]].append(replace(listed_file(row), turn=0))
    return [Draft.foreign(str(content), files[turn]) for turn, content in prompts]
