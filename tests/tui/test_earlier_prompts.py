"""Prompts sent in any conversation are found by their words, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import OptionList

from jitchat.draft import Draft
from jitchat.tui.chat import drafting
from jitchat.tui.dialogs.prompts import PromptsScreen
from tests.tui.support import TestBackend, demo_app, ready, until

if TYPE_CHECKING:
    import pytest


async def test_a_prompt_is_found_by_words_and_replaces_the_typed_text(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
):
    sent = ["Which PORT is the café on?", "no", "port and host\nof the café", "no"]
    drafts = [Draft.foreign(text) for text in sent]
    monkeypatch.setattr(drafting, "sent_drafts", lambda *_: drafts)
    async with demo_app(backend).run_test(size=(80, 24)) as pilot:
        prompt = (await ready(pilot)).surfaces.prompt
        await pilot.press(*"po", "ctrl+s", *"rt cafe")
        assert isinstance(pilot.app.screen, PromptsScreen)
        await pilot.app.workers.wait_for_complete()
        rows = pilot.app.screen.query_one(OptionList)
        shown = [str(rows.get_option_at_index(n).prompt) for n in range(rows.option_count)]
        assert shown == ["Which PORT is the café on?", "port and host of the café  1 more line"]
        await pilot.press("ctrl+s", "enter")
        await until(pilot, lambda: prompt.draft == sent[2], "the older one")
        await pilot.press("ctrl+underscore")
        assert prompt.draft == "po"
        await pilot.press("x", "ctrl+s", *"no", "enter")
        await until(pilot, lambda: prompt.draft == "no", "the one that has what was typed there")
        await pilot.press("ctrl+s", *"nowhere", "enter")
        rows = pilot.app.screen.query_one(OptionList)
        assert [str(each.prompt) for each in rows.options] == ["No matches."]
