"""What the prompt recognises is marked where it stands, and only that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.draft import Draft
from tests.tui.support import TestBackend, demo_app, ready, until

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.tui.widgets.prompt import Prompt


def marked(prompt: Prompt) -> list[str]:
    lines = (prompt.get_line(number) for number in range(prompt.document.line_count))
    return [line.plain[span.start : span.end] for line in lines for span in line.spans]


async def test_what_is_recognised_is_marked_and_nothing_else(
    backend: TestBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("notes.md", "two words.md"):
        (tmp_path / name).touch()
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        prompt = (await ready(pilot)).surfaces.prompt
        for draft, recognised in {
            "/mode full": ["/mode"],
            "/tmp is full": [],
            " /mode full": [],
            "@full which of #12, #99 and #4812x": ["@full", "#12"],
            "which\n@full #60": ["#60"],
            'see @notes.md, @nothing.md and @"two words.md"': ["@notes.md", '@"two words.md"'],
            "me@notes.md": [],
        }.items():
            prompt.swap(Draft.by_user(draft))
            await until(pilot, lambda want=recognised: marked(prompt) == want, str(recognised))
            await pilot.pause()
            assert marked(prompt) == recognised
        prompt.swap("see @notes.md and #12")
        await pilot.pause()
        assert marked(prompt) == ["#12"], "what was not typed names no file"
        prompt.swap("")
        prompt.paste("line\n" * 20)
        assert marked(prompt) == ["[20 lines…]"]
