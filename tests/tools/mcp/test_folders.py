"""No server runs code of the folder that jitchat was started in, unless `cwd` names it."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from jitchat.tools.mcp.server import Phase
from jitchat.tools.mcp.spec import ServerSpec
from tests.support import ROOT
from tests.tools.mcp.conftest import hostile as script_of
from tests.tools.mcp.folders import NAME, WITH_MODULE, enter_hostile_folder

if TYPE_CHECKING:
    from pathlib import Path

WITH_NPX = ServerSpec("npx", "npx", ("--offline", "-y", NAME), timeout=60)
WITH_RELATIVE_PATH = ServerSpec("relative", f"./node_modules/.bin/{NAME}")


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return enter_hostile_folder(tmp_path, monkeypatch)


needs_npx = pytest.mark.skipif(shutil.which("npx") is None, reason="npx is not installed")
WAYS = [
    pytest.param(WITH_MODULE, id="module"),
    pytest.param(WITH_NPX, id="npx", marks=needs_npx),
    pytest.param(WITH_RELATIVE_PATH, id="relative"),
]


@pytest.mark.parametrize("spec", WAYS)
async def test_the_folder_is_hostile_to_a_server_that_is_started_in_it(
    running, marker: Path, spec: ServerSpec
):
    async with running(replace(spec, cwd=".")):
        pass

    assert marker.exists()


@pytest.mark.parametrize("spec", WAYS)
async def test_a_server_is_started_restarted_and_used_outside_the_folder(
    running, marker: Path, spec: ServerSpec
):
    async with running(spec) as heard:
        again = await heard.restart(spec.name)
        server = heard.servers.server(spec.name)
        if again.phase is Phase.READY:
            await server.prompts()
            await server.prompt("greeting", {"name": "Ada"})
            await server.resources()
            home = (await heard.call("friendly__folder")).content

    assert not marker.exists()
    if spec is WITH_MODULE:
        assert again.phase is Phase.READY
        assert home == os.environ["HOME"]


async def test_a_server_that_ended_is_restarted_outside_the_folder(running, marker: Path):
    dies = replace(script_of("dies"), args=("-m", "tests.tools.mcp.hostile_server", "dies"))
    dies = replace(dies, env={"PYTHONPATH": str(ROOT)})

    async with running(dies) as heard:
        await heard.call("hostile__do")
        await heard.until(lambda: heard.phases.count(Phase.READY) == 2)

    assert not marker.exists()
