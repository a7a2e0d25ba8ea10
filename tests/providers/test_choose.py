"""A protocol by its name."""

from __future__ import annotations

import pytest

from jitchat.errors import SettingsError
from jitchat.providers.catalogue.table import presets
from jitchat.providers.protocols.protocol import protocol_named, protocol_names
from jitchat.providers.provider import Options
from tests.providers.requested import requested
from tests.providers.streams import ASKED, endpoint


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("openai", "/v1/chat/completions"),
        ("anthropic", "/v1/messages"),
        ("gemini", "/v1/models/m:streamGenerateContent"),
        ("ollama", "/api/chat"),
        ("responses", "/v1/responses"),
    ],
)
def test_each_protocol_has_its_own_way(name, path):
    assert requested(protocol_named(name), endpoint(), ASKED, Options()).url.path == path


def test_every_preset_speaks_a_known_protocol():
    speaking = {preset.protocol for preset in presets().values()}
    assert speaking == {*protocol_names, "reader"} - {"responses"}  # some models speak it


@pytest.mark.parametrize("name", ["", "OpenAI", "reader", "x\x1b" * 500])
def test_an_unknown_protocol_is_told_with_those_that_are(name):
    with pytest.raises(SettingsError) as failure:
        protocol_named(name)
    assert "\x1b" not in failure.value.what
    assert all(known in failure.value.remedy for known in protocol_names)
