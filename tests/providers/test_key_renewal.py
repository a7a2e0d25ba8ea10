"""An expired key is renewed once, before the first part of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from jitchat.errors import KeyRefused, SettingsError
from jitchat.providers.catalogue.servers import fetch_models
from jitchat.providers.provider import ReplyDelta
from tests.providers.streams import DONE, HELLO, KEY, collect, endpoint, provider, streamed
from tests.providers.test_key import rendered

if TYPE_CHECKING:
    from collections.abc import Callable

FRESH = "sk-fresh-canary-81c2d47e"


class Expiring:
    """A server that takes the fresh key, unless it takes none."""

    def __init__(self, *, takes: str = FRESH, status: int = 401) -> None:
        self.takes, self.status = takes, status
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        key = request.headers["authorization"].removeprefix("Bearer ")
        self.asked.append(key)
        if key != self.takes:
            said = {"error": {"message": f"The key {key} has expired."}}
            return httpx.Response(self.status, json=said)
        if request.method == "GET":
            return httpx.Response(200, json={"data": [{"id": "m"}]})
        return streamed(HELLO, DONE)


def printing(*keys: str | SettingsError) -> tuple[Callable[[str], str], list[str]]:
    """What gives these keys one by one, and which ones it was told were refused."""
    refused: list[str] = []

    def renew(key: str) -> str:
        refused.append(key)
        found = keys[len(refused) - 1]
        if isinstance(found, SettingsError):
            raise found
        return found

    return renew, refused


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_renewed_and_the_request_sent_again(status):
    server, (renew, refused) = Expiring(status=status), printing(FRESH)
    pieces, failure = await collect(provider(server, renew=renew))
    assert failure is None
    assert ReplyDelta("Hel") in pieces
    assert (server.asked, refused) == ([KEY, FRESH], [KEY])


async def test_the_renewed_key_serves_from_then_on():
    server, (renew, refused) = Expiring(), printing(FRESH)
    wanted = provider(server, renew=renew)
    for _ in range(2):
        assert (await collect(wanted))[1] is None
    assert (server.asked, refused) == ([KEY, FRESH, FRESH], [KEY])


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        pytest.param((FRESH,), [KEY, FRESH], id="refused, too"),
        pytest.param((KEY,), [KEY], id="the same again"),
        pytest.param((SettingsError("api_key_cmd ended."),), [KEY], id="none"),
    ],
)
async def test_a_refusal_that_no_other_key_ends_is_told_and_no_key_with_it(given, asked):
    server, (renew, refused) = Expiring(takes="another"), printing(*given)
    wanted = provider(server, renew=renew)
    _, failure = await collect(wanted)
    assert isinstance(failure, KeyRefused)
    assert "••• has expired" in failure.what
    assert (server.asked, refused) == (asked, [KEY])
    shown = rendered(failure) + repr(endpoint(renew=renew))
    assert KEY not in shown
    assert FRESH not in shown


async def test_a_refusal_about_something_else_asks_for_no_key():
    renew, refused = printing()
    refusing = httpx.Response(404, json={"error": {"message": "no such model"}})
    _, failure = await collect(provider(refusing, renew=renew))
    assert failure is not None
    assert refused == []


async def test_a_list_of_models_is_asked_for_again_with_another_key():
    server, (renew, _) = Expiring(), printing(FRESH)
    found = await fetch_models(endpoint(renew=renew), "openai", httpx.MockTransport(server))
    assert [each.name for each in found] == ["m"]
    assert server.asked == [KEY, FRESH]
