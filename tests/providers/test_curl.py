"""The curl command sends the same request as the app, and contains no secret."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.providers.http.redaction import curl
from jitchat.providers.provider import Options, Wire
from tests.examples import examples
from tests.providers.streams import KEY
from tests.providers.test_wire import TALK, Server, asking, protocols

FAKE = 'printf "%s\\n" "$@" > "$KEPT.arguments"; cat > "$KEPT.body"\n'
"""Stands in for curl: keeps what it is given."""
needs_sh = pytest.mark.skipif(shutil.which("sh") is None, reason="needs a POSIX shell")


def ran(command: str, folder: Path, **variables: str) -> tuple[list[str], bytes]:
    """The arguments and the input that the command would give to curl."""
    fake = folder / "curl"
    fake.write_text(f"#!/bin/sh\n{FAKE}")
    fake.chmod(0o700)
    kept = folder / "kept"
    surroundings = {"PATH": f"{folder}:{os.environ['PATH']}", "KEPT": str(kept)} | variables
    subprocess.run(["sh", "-eu"], input=command.encode(), env=surroundings, check=True)
    return Path(f"{kept}.arguments").read_text().splitlines(), Path(f"{kept}.body").read_bytes()


@needs_sh
@protocols
def test_a_shell_sends_the_same_bytes_with_the_key_from_its_variable(name, tmp_path):
    wanted = asking(
        name,
        Server(),
        base_url="http://me:pass-canary@models.test/v1" if name == "ollama" else "https://m.test",
        headers={"X-Gate": "hunter2-canary"},
        key_variable="SOME_KEY",
    )
    wire = wanted.wire(TALK, Options())
    command = curl(wire)
    assert [each for each in (KEY, "hunter2", "pass-canary") if each in command] == []
    variables = {"JITCHAT_X_GATE": "hunter2-canary", "JITCHAT_AUTHORIZATION": f"x:{KEY}"}
    arguments, body = ran(command, tmp_path, SOME_KEY=KEY, **variables)
    assert body == wire.body
    assert arguments[-1] == wire.url
    said = {each.lower() for each in arguments}
    assert "x-gate: hunter2-canary" in said
    assert any(each.endswith(KEY) for each in arguments)
    for header, value in wire.headers:
        if header.lower() not in ("host", "content-length") and "•••" not in value:
            assert f"{header}: {value}".lower() in said


@given(st.text(max_size=60), st.sampled_from(["", "A_KEY"]))
@examples(24)
def test_whatever_the_body_holds_a_shell_reads_it_as_one_word(text, variable):
    body = json.dumps({"content": text, "also": "it's $HOME `id` \\ \" !"}).encode()
    wire = Wire(
        "POST", "http://m.test/?a=•••&b", (("Authorization", "Bearer •••"),), body, variable
    )
    words = shlex.split(curl(wire), comments=False)
    assert words[:3] == ["printf", "%s", body.decode()]
    named = variable or "JITCHAT_PROVIDER_API_KEY"
    assert f"Authorization: Bearer ${{{named}}}" in words
    assert words[-1] == f"http://m.test/?a=${{{named}}}&b"
