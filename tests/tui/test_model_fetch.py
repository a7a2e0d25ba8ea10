"""The download of a better embedding model: shown, stopped by its key, used when complete."""

from __future__ import annotations

import pytest

from jitchat.errors import StoreFull
from jitchat.index.conversation_index import ConversationIndex
from jitchat.tui.widgets.top_line import ModelFetch, TopLine
from tests.tui.support import TestBackend, demo_app, notices, ready, until


async def test_a_download_is_visible_and_can_be_stopped(backend: TestBackend) -> None:
    backend.may_fetch_model = True
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        fetch = screen.query_one(ModelFetch)
        assert fetch.display
        assert str(fetch.render()) == "downloading model, 3 MB · F5 stops"
        await pilot.press("f5")
        await until(pilot, lambda: not fetch.running, "the end of the download")
        assert not fetch.display


async def test_a_downloaded_model_is_used(backend: TestBackend) -> None:
    backend.may_fetch_model = backend.fetched = True
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        status = screen.query_one(TopLine).query_one("#status")
        await until(pilot, lambda: "fake-embedder" in str(status.render()), "the new embedder")
        assert screen.session is not None
        assert screen.session.memory.index.embedder.id == "fake-embedder"


@pytest.mark.parametrize("is_there", [True, False])
async def test_an_unusable_download_is_reported_once_and_a_failed_automatic_one_is_not(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    async def fetch(_: object) -> tuple[bool, str]:
        backend.may_fetch_model = not is_there
        return False, "It could not be downloaded: model.onnx is not the published file."

    backend.may_fetch_model = True
    monkeypatch.setattr(backend, "fetch_model", fetch)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        await until(pilot, lambda: not screen.query_one(ModelFetch).running, "the end of it")
        await pilot.pause()
        assert notices(pilot) == (
            ["It could not be downloaded: model.onnx is not the published file."] * is_there
        )


async def test_indexing_that_fails_is_told_and_nothing_is_fetched_where_that_is_forbidden(
    backend: TestBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreFull("The disk is full.", "Free some space.")

    monkeypatch.setattr(ConversationIndex, "catch_up", full)
    async with demo_app(backend).run_test(size=(140, 40)) as pilot:
        screen = await ready(pilot)
        assert not screen.query_one(ModelFetch).running
        messages = notices(pilot)
        assert "The disk is full. Free some space." in messages
        assert pilot.app.is_running
