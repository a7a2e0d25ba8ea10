"""Servers that fail, hang, end, shout and lie: a state and a sentence each, no failing chat."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jitchat.store.tool_grants import ToolGrants
from jitchat.text.sanitize import for_terminal
from jitchat.tools.approvals import Answer, Approvals, Rules
from jitchat.tools.mcp import server as server_module
from jitchat.tools.mcp.server import Phase, Servers
from jitchat.values import ToolCall
from tests.support import ROOT
from tests.tools.mcp.conftest import FRIENDLY, STEP, hostile
from tests.tools.test_approvals import Scripted

if TYPE_CHECKING:
    from jitchat.store.database import Database

CANARY = "sk-canary-0123456789abcdef"


async def test_what_a_server_prints_among_its_messages_is_passed_over(running, capfd):
    async with running(hostile("prose")) as heard:
        result = await heard.call("hostile__do")

    assert (result.content, result.is_error) == ("do", False)
    assert heard.heard[1].protocol == "2025-11-25"
    assert capfd.readouterr() == ("", "")


async def test_a_server_that_says_nothing_is_given_up_in_time(running):
    began = time.monotonic()

    async with running(hostile("silent", timeout=0.3)) as heard:
        (state,) = heard.servers.states()

    assert state.phase is Phase.FAILED
    assert state.sentence.startswith("hostile was not ready within 0.3 seconds.")
    assert "Raise its timeout" in state.sentence
    assert "jitchat mcp check" in state.sentence
    assert time.monotonic() - began < 10


async def test_a_server_is_stopped_while_it_starts(tmp_path: Path):
    servers = Servers([hostile("silent"), FRIENDLY], tmp_path)
    servers.start()
    waiting = asyncio.ensure_future(servers.started())
    await asyncio.sleep(0)

    async with asyncio.timeout(15):
        await servers.stop()
        states = await waiting

    assert {state.phase for state in states} == {Phase.STOPPED}


async def test_what_a_server_wrote_on_its_errors_is_in_its_file_alone(running, capfd):
    async with running(hostile("fails")) as heard:
        (state,) = heard.servers.states()
        file = heard.servers.server("hostile").errors

    assert state.phase is Phase.FAILED
    assert "hostile ended before it answered" in state.sentence
    assert "no such table: users" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert capfd.readouterr() == ("", "")


async def test_a_server_that_ends_in_a_call_is_started_again_a_few_times(running):
    async with running(hostile("dies")) as heard:
        first = await heard.call("hostile__do")
        await heard.until(lambda: heard.phases.count(Phase.READY) == 2)
        assert heard.tools() == ["hostile__do"]
        second, third = [await heard.call("hostile__do") for _ in range(2)]
        await heard.until(lambda: heard.phases[-1] is Phase.FAILED)
        last = await heard.call("hostile__do")
        again = await heard.restart("hostile")

    for result in (first, second, third):
        assert result.is_error
        assert "hostile ended before it answered" in result.content
        assert "Whether it did anything is not known" in result.content
    assert "hostile has no tool" in last.content
    assert Phase.RESTARTING in heard.phases
    assert "ended 3 times" in next(s.sentence for s in heard.heard if s.phase is Phase.FAILED)
    assert again.phase is Phase.READY


async def test_a_call_that_hangs_is_given_up_or_stopped(running):
    async with running(hostile("hangs"), call_seconds=0.1) as heard:
        late = await heard.call("hostile__do")

    assert late.is_error
    assert "did not answer within 0.1 seconds" in late.content

    async with running(hostile("hangs")) as heard:
        calling = asyncio.ensure_future(heard.call("hostile__do"))
        await asyncio.sleep(0)
        calling.cancel()
        await asyncio.wait([calling], timeout=5)
        assert calling.cancelled()


async def test_a_result_of_ten_megabytes_comes_whole(running):
    async with running(hostile("large")) as heard:
        result = await heard.call("hostile__do")

    assert len(result.content) == 10_000_000


@pytest.mark.parametrize("how", ["larger", "endless"])
async def test_a_larger_result_is_not_read_and_the_server_goes_on(running, how: str):
    async with running(hostile(how)) as heard:
        result = await heard.call("hostile__do")
        (state,) = heard.servers.states()
        if how == "larger":
            assert (await heard.call("hostile__do")).content == "do"

    assert result.is_error
    assert "hostile sent a message of more than 16 MB, which was not read." in result.content
    assert state.phase is Phase.READY


async def test_of_thousands_of_tools_the_first_are_offered_and_a_sentence_says_so(running):
    async with running(hostile("many")) as heard:
        (state,) = heard.servers.states()
        names = heard.tools()

    assert (len(names), state.tools, state.phase) == (500, 500, Phase.READY)
    assert "hostile__do0" in names
    assert state.sentence == "hostile lists more than 500 tools; the first 500 are offered."


async def test_a_failure_of_the_list_of_tools_is_a_sentence(running):
    async with running(hostile("lists-fail")) as heard:
        (state,) = heard.servers.states()

    assert state.phase is Phase.FAILED
    assert state.sentence.startswith("hostile answered with an error: no such method")


async def test_the_log_of_a_server_is_masked_and_bounded_while_it_runs(running, monkeypatch):
    secrets = {"TOKEN": CANARY, "PIN": "987654321", "DB": "postgres://u:p4ssw0rd-0@h/db"}
    async with running(hostile("chatty", env=secrets)) as heard:
        await heard.call("hostile__do")
        file = heard.servers.server("hostile").errors
        async with asyncio.timeout(20):
            while "the end" not in file.read_text():
                await asyncio.sleep(0.01)
        written = file.read_text()

    assert file.stat().st_size < 2 << 20
    assert "earlier output was removed" in written
    assert "•••" in written
    for secret in (CANARY, "987654321", "p4ssw0rd-0"):
        assert secret not in written
        assert secret[3:] not in written


async def test_control_characters_are_kept_and_shown_as_signs(running):
    approver = Scripted([Answer.DECLINE])

    async with running(hostile("controls")) as heard:
        result = await heard.call("hostile__do")
        (tool,) = heard.servers.server("hostile").tools()
        decides = Approvals(Rules(), heard.servers, approver)
        await decides.refusal("hostile", tool, ToolCall("1", tool.name, "{}"))

    assert "\x1b[2J" in result.content
    result.content.encode()  # what is stored can be
    assert "\0" not in result.content
    texts = [text for _, text in approver.questions[0].details]
    shown = for_terminal("\n".join((result.content, *texts))).cells
    assert not re.search(r"[\x00-\x08\x0e-\x1f\u202e]", shown)


async def test_names_that_would_be_the_same_are_told_apart(running):
    async with running(hostile("clash")) as heard:
        names = heard.tools()
        results = [(await heard.call(name)).content for name in names]

    assert names == sorted(set(names))
    assert sorted(results) == ["a b", "a.b", "a/b", "c"]


async def test_a_tool_is_denied_by_the_name_that_its_server_knows(running):
    async with running(hostile("denied"), rules=Rules(deny=("hostile__drop.*",))) as heard:
        assert heard.tools() == ["hostile__read"]


async def test_a_description_that_changes_is_asked_about_anew(running, database: Database):
    grants = ToolGrants(database)
    approver = Scripted([Answer.ALWAYS, Answer.DECLINE])

    async with running(hostile("changes")) as heard:
        decides = Approvals(Rules(), heard.servers, approver, grants)
        (before,) = heard.servers.server("hostile").tools()
        call = ToolCall("1", before.name, "{}")
        assert await decides.refusal("hostile", before, call) is None
        assert await decides.refusal("hostile", before, call) is None
        await heard.call(before.name)
        source = heard.servers.server("hostile")
        await heard.until(lambda: source.tools() != (before,))
        (after,) = source.tools()
        assert await decides.refusal("hostile", after, call) is not None

    first, second = (dict(question.details) for question in approver.questions)
    described = "Description by hostile (unverified):"
    assert (first[described], second[described]) == ("Does it, 1.", "Does it, 2.")
    changed = "Changed since you always allowed it (- before, + now):"
    assert not first[changed]
    assert second[changed] == "-description: Does it, 1.\n+description: Does it, 2."


def is_there(process: int) -> bool:
    """Whether it runs; what has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end while its state is read
        return False


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="asks /proc who runs")
async def test_nothing_that_a_server_started_is_left(running):
    async with running(hostile("stubborn")) as heard:
        file = heard.servers.server("hostile").errors
        child = int(file.read_text().split()[-1])
        assert is_there(child)

    assert not is_there(child)
    assert heard.phases[-1] is Phase.STOPPED


DEAF = ["stubborn", "silent", "deaf"]
"""Servers that ignore SIGTERM with a child, sleep before they answer, or never read their input."""


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="asks /proc who runs")
@pytest.mark.parametrize("how", DEAF)
async def test_stopping_takes_at_most_a_second_whatever_a_server_does(tmp_path, how: str):
    servers = Servers([hostile(how)], tmp_path)
    servers.start()
    file = servers.server("hostile").errors
    processes = await written_processes(file)
    calling = None
    if how == "deaf":
        await servers.started()
        call = ToolCall("1", "hostile__do", json.dumps({"text": "x" * 1_000_000}))
        calling = asyncio.ensure_future(
            servers.server("hostile").run(call, json.loads(call.arguments), STEP)
        )
        await asyncio.sleep(0.05)
    began = time.monotonic()

    await servers.stop()

    assert time.monotonic() - began < 1
    assert not any(map(is_there, processes))
    if calling is not None:
        assert (await calling).result.is_error


async def written_processes(file: Path) -> list[int]:
    """Wait until the hostile server has written the ids of its processes."""
    async with asyncio.timeout(20):
        while not file.is_file() or "processes" not in file.read_text():
            await asyncio.sleep(0.01)
    return [int(word) for word in file.read_text().split("processes")[1].split()]


APP = """
import asyncio, sys
from pathlib import Path
from tests.tools.mcp.conftest import hostile
from jitchat.tools.mcp.server import Servers

async def main():
    servers = Servers([hostile(sys.argv[1])], Path(sys.argv[2]))
    servers.start()
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="asks /proc who runs")
@pytest.mark.parametrize("how", DEAF)
async def test_a_server_dies_with_an_app_that_is_killed(tmp_path: Path, how: str):
    app = await asyncio.create_subprocess_exec(
        sys.executable, "-c", APP, how, str(tmp_path), cwd=ROOT
    )
    processes = await written_processes(tmp_path / "hostile.log")
    assert any(map(is_there, processes))

    app.kill()
    await app.wait()

    async with asyncio.timeout(5):
        while any(map(is_there, processes)):
            await asyncio.sleep(0.01)


async def test_keys_are_in_no_error_log_result_or_representation(
    running, caplog, capfd, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)  # a server is not handed it
    caplog.set_level(logging.DEBUG)
    environ = {"SECRET": CANARY}
    env = {"PAT": "${SECRET}", "DATABASE_URL": f"postgres://u:{CANARY}@h/db", "PIN": "987654321"}
    env |= {"TOKEN": "${SECRET}", "PLACE": "/srv/notes", "MODE": "production"}
    args = (*FRIENDLY.args, "stdio", "--api-key", "canary-of-args-1")
    here = replace(FRIENDLY, env=env, args=args)
    far = replace(
        hostile(""),
        name="far",
        command="",
        args=(),
        url=f"http://user:{CANARY}@127.0.0.1:9/mcp?key={CANARY}",
        headers={"Authorization": "Bearer ${SECRET}"},
        timeout=5,
    )

    async with running(here, far, environ=environ) as heard:
        result = await heard.call("friendly__environment")
        log = heard.servers.server("friendly").errors.read_text()
        everything = (heard.servers.states(), heard.heard, far, here.expanded(environ))
        states = {state.name: state for state in heard.servers.states()}

    assert states["far"].phase is Phase.FAILED
    assert "'TOKEN'" in result.content
    assert "PATH" in result.content
    assert "OPENAI_API_KEY" not in result.content
    assert "/srv/notes" in result.content  # a folder is no key
    out, err = capfd.readouterr()
    assert "production" in result.content
    for text in (result.content, repr(everything), caplog.text, out, err, log):
        for secret in (CANARY, "987654321", "canary-of-args-1"):
            assert secret not in text


@pytest.mark.parametrize("how", ["reveals", "refuses"])
async def test_keys_are_masked_in_names_numbers_and_shortened_errors(running, how: str):
    environ = {"SECRET": CANARY, "SECRET_PIN": "987654321"}
    env = {"SERVER_KEY": "${SECRET}", "SERVER_PIN": "${SECRET_PIN}"}
    async with running(hostile(how, env=env), environ=environ) as heard:
        result = await heard.call("hostile__do")
    assert CANARY[:9] not in result.content
    assert "987654321" not in result.content
    if how == "reveals":
        values = {"•••": ["•••", "•••"], "in": {"•••": {"pin": "•••", "count": 12}}}
        assert json.loads(result.content) == values
    else:  # the SDK has the same code for a server that ended
        assert "hostile answered with an error: xxx" in result.content


async def test_without_the_sdk_a_sentence_names_the_extra(running, monkeypatch):
    monkeypatch.setattr(server_module, "find_spec", lambda name: None)

    async with running(FRIENDLY) as heard:
        (state,) = heard.servers.states()

    assert state.phase is Phase.FAILED
    assert "pip install 'jitchat[mcp]'" in state.sentence


def test_the_sdk_is_not_imported_before_a_server_is_started():
    code = (
        "import sys, jitchat.tools.mcp.server, jitchat.tools.approvals, jitchat.settings.load;"
        "assert not {'mcp', 'mcp_types', 'httpx2', 'anyio', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
