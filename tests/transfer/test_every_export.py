"""A census of every export in these tests: no text of it is nowhere."""

from __future__ import annotations

import json
import zipfile
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.transfer.census import Place, Rules, key_of, rules_of
from tests.transfer import exports, rich_exports
from tests.transfer.files import jsonl, locomo_sample, plain_turns, take, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from jitchat.store.store import ColdStore

TREES: dict[str, Any] = {
    "chatgpt": [exports.chatgpt_talk()],
    "chatgpt search": [rich_exports.chatgpt_search()],
    "chatgpt code": [rich_exports.chatgpt_code()],
    "chatgpt browsing": [rich_exports.chatgpt_browsing()],
    "chatgpt canvas": [rich_exports.chatgpt_canvas()],
    "chatgpt cards": [rich_exports.chatgpt_cards()],
    "claude": [exports.claude(exports.claude_message("1", "", "human", "Hello"))],
    "claude search": [rich_exports.claude_search()],
    "claude project": rich_exports.claude_project(),
    "claude projects": [rich_exports.claude_project()],
    "claude memories": rich_exports.claude_memories(),
    "gemini": exports.gemini(),
    "gemini page": rich_exports.gemini_page(),
    "gemini german": rich_exports.gemini_german(),
    "open-webui merged": rich_exports.open_webui_merged(),
    "open-webui": [exports.open_webui()],
    "open-webui sources": rich_exports.open_webui_sources(),
    "open-webui output": rich_exports.open_webui_output(),
    "open-webui knowledge": rich_exports.open_webui_knowledge(),
    "librechat list": exports.librechat(recursive=False),
    "librechat tree": exports.librechat(recursive=True),
    "librechat branches": rich_exports.librechat_branches(),
    "librechat agent": rich_exports.librechat_agent(),
    "locomo": [locomo_sample()],
    "plain": plain_turns(),
    "plain messages": rich_exports.plain_messages(),
    "plain functions": rich_exports.plain_functions(),
}
DATABASES: dict[str, Callable[[Path], Path]] = {
    "llm old": exports.llm_old,
    "llm new": exports.llm_new,
    "llm old pictures": rich_exports.llm_old,
    "llm new pictures": rich_exports.llm_new,
}


def in_zip(folder: Path, content: object) -> Path:
    with zipfile.ZipFile(folder / "export.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps(content))
        for name, data in rich_exports.CHATGPT_FILES.items():
            archive.writestr(name, data)
    return folder / "export.zip"


def require_whole(store: ColdStore, path: Path) -> None:
    """Import a file; fail for texts that are nowhere, and print what is not compared."""
    for taken in take(store, path):
        print(f"\n{taken.wanted_id}: left out {dict(taken.tally.skipped)}")
        reasons = taken.census.rules.excluded
        for (key, place), number in sorted(taken.census.counts.items()):
            if place is Place.EXCLUDED:
                reason = reasons.get(key, "a part of a text")
                print(f"  {number:4} not compared: {key} ({reason})")
        assert any(place is Place.TURNS for _, place in taken.census.counts)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("write", [in_zip, lambda folder, value: written(folder, "a.json", value)])
def test_no_text_of_an_export_is_nowhere(
    tmp_path: Path, store: ColdStore, name: str, write: Callable[[Path, object], Path]
):
    require_whole(store, write(tmp_path, TREES[name]))


@pytest.mark.parametrize("name", DATABASES)
def test_no_text_of_a_database_is_nowhere(tmp_path: Path, store: ColdStore, name: str):
    require_whole(store, DATABASES[name](tmp_path / "logs.db"))


def test_no_text_of_lines_is_nowhere(tmp_path: Path, store: ColdStore):
    require_whole(store, written(tmp_path, "a.jsonl", jsonl(rich_exports.plain_messages())))
    lines = [{"id": "one", "title": "A title", "messages": rich_exports.plain_messages()}]
    require_whole(store, written(tmp_path, "b.jsonl", jsonl(lines * 2)))


def texts(value: Any, rules: Rules, key: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Yield the container, the index and the key of every text that is compared."""
    is_object = isinstance(value, dict)
    for index, inner in list(value.items() if is_object else enumerate(value)):
        own, listed = key_of(rules, key, index) if is_object else (key, "")
        if isinstance(inner, dict | list) and listed not in rules.excluded:
            yield from texts(inner, rules, own)
        elif isinstance(inner, str) and listed not in rules.excluded:
            yield value, index, own


NAMES = (
    "speaker", "speaker_a", "speaker_b", "organic.link", "source.url", "items.url", "call_id",
    "chat_messages.text", "chat.title", "chat.id", "meta.name", "filename", "tool_use_id", "data",
    "author.name", "content.name", "metadata.model_slug", "aggregate_result.code",
    "final_expression_output", "options.model", "options.title", "canvas.title",
    "content_references.title", "_date_time",
)  # fmt: skip
"""Keys of texts that stand in several places of a source and are alike there."""


@pytest.mark.parametrize("name", TREES)
def test_a_text_that_occurs_nowhere_else_is_kept_or_counted(
    tmp_path: Path, store: ColdStore, name: str
):
    """Each text gets a word of its own, so that none passes as a part of another one."""
    marked = deepcopy(TREES[name])
    rules = rules_of(name.partition(" ")[0])
    for number, (container, index, key) in enumerate(texts(marked, rules)):
        text = container[index]
        is_written = text[:1] in "{[<" or text.startswith(("data:", "http")) or "\ue200" in text
        if not is_written and not key.endswith(NAMES):
            container[index] = f"{text} zq{number}x"

    require_whole(store, written(tmp_path, "a.json", marked))
