"""What a real engine tells of itself beside the chat: its models, its limit, its counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from jitchat.errors import KeyRefused
from jitchat.providers.catalogue.models import LocalServer, ModelInfo
from jitchat.providers.catalogue.servers import ask_limit, fetch_models, find_local
from jitchat.providers.catalogue.table import presets
from jitchat.values import LOADED, Limit
from tests.engine.asking import ROUTES, WRONG, endpoint
from tests.engine.tiny_model import NAME

if TYPE_CHECKING:
    from tests.engine.server import Engine


@pytest.mark.parametrize("protocol", ROUTES)
async def test_the_limit_is_what_the_engine_was_started_with(engine: Engine, protocol):
    assert await ask_limit(endpoint(engine), protocol) == Limit(engine.context, LOADED)


@pytest.mark.parametrize("protocol", ROUTES)
async def test_the_limit_is_found_whatever_the_model_is_called(engine: Engine, protocol):
    """It answers with its one model in any case."""
    asked = endpoint(engine, model="gpt-5")
    assert await ask_limit(asked, protocol) == Limit(engine.context, LOADED)


@pytest.mark.parametrize("protocol", ROUTES)
async def test_its_one_model_is_listed(engine: Engine, protocol):
    (model,) = await fetch_models(endpoint(engine), protocol)

    assert model == ModelInfo(NAME, Limit(engine.context, LOADED), pictures=False)
    assert model.is_loaded


async def test_a_wrong_key_is_an_error_of_the_list_and_an_unknown_limit(engine: Engine):
    wrong = endpoint(engine, key=WRONG)

    with pytest.raises(KeyRefused) as refused:
        await fetch_models(wrong, "openai")
    assert WRONG not in str(refused.value)
    assert await ask_limit(wrong, "openai") is None


class OnTheUsualPort(httpx.AsyncBaseTransport):
    """The engine stands on llama.cpp's usual port, and nothing on any other.

    Closing it closes nothing: all who look around share it.
    """

    def __init__(self, network: httpx.AsyncHTTPTransport, engine: Engine) -> None:
        self._network = network
        self._engine = httpx.URL(engine.address)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.port != httpx.URL(presets()["llamacpp"].base_url).port:
            raise httpx.ConnectError("nobody listens")
        request.url = request.url.copy_with(host=self._engine.host, port=self._engine.port)
        return await self._network.handle_async_request(request)


async def test_one_that_wants_no_key_is_found_on_its_usual_port(open_engine: Engine):
    async with httpx.AsyncHTTPTransport() as network:
        found = await find_local(OnTheUsualPort(network, open_engine))

    model = ModelInfo(NAME, Limit(open_engine.context, LOADED), pictures=False)
    assert found == (LocalServer("llamacpp", presets()["llamacpp"].base_url, (model,)),)
