"""A key from any source is used, and never stored or shown."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from jitchat.errors import KeyRefused
from jitchat.settings import keys as stored_keys
from jitchat.settings.keys import KeysFile
from jitchat.settings.sections import Secret
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

KEY = "canary-0123456789-abcdef"
TABLE = '[provider]\nname = "work"\nmodel = "m"\n[providers.work]\nbase_url = "https://w.test/v1"\n'
COMMAND = shlex.join([sys.executable, "-c", f"print('{KEY[:6]}' + '{KEY[6:]}')"])
SOURCES = {
    "the variable of who answers": "",
    "a variable": 'api_key_env = "WORK_KEY"',
    "the configuration": f'api_key = "{KEY}"',
    "a command": f"api_key_cmd = '''{COMMAND}'''",
    "the keys file": "",
    "a header": f'headers = {{ "X-Key" = "{KEY}" }}',
}


@pytest.fixture(params=SOURCES)
def source(
    request: pytest.FixtureRequest, home: Path, demo: None, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Where the key is configured."""
    (home / "config.toml").write_text(f"{TABLE}{SOURCES[request.param]}\n")
    if request.param == "the variable of who answers":
        monkeypatch.setenv("JITCHAT_PROVIDER_API_KEY", KEY)
    if request.param == "a variable":
        monkeypatch.setenv("WORK_KEY", KEY)
    if request.param == "the keys file":
        KeysFile(home / "keys.toml").put("work", Secret(KEY))
    return str(request.param)


@pytest.mark.usefixtures("source")
def test_a_key_is_sent_and_is_in_no_file_and_on_no_screen(
    jitchat: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
):
    from jitchat.providers.http import provider as http

    sent: list[str] = []
    done, ends = [], ""

    def make(endpoint: object, *more: object, **options: object) -> ScriptedProvider:
        sent.extend([endpoint.key, *endpoint.headers.values()])
        if ends == "broken":
            raise ZeroDivisionError(endpoint.key, endpoint)
        script = ["Yes."] if ends == "answered" else [KeyRefused("Refused.", endpoint.key_help)]
        return ScriptedProvider(script)

    monkeypatch.setattr(http, "HttpProvider", make)
    own = {home / "config.toml", home / "keys.toml"}
    for ends in ("answered", "refused", "broken"):
        sent.clear()
        done.append(jitchat("send", "hello"))
        assert KEY in sent
        assert (home / "crash.txt").exists() == (ends == "broken")
    done += [jitchat("window", "hello", "--json"), jitchat("config"), jitchat("paths")]
    done += [jitchat("keys", "list", "--json"), jitchat("doctor", "--json")]

    assert [each.code for each in done[:3]] == [0, 1, 1]
    assert KEY[6:] not in "".join(each.out + each.err for each in done)
    written = [path for path in home.rglob("*") if path.is_file() and path not in own]
    assert home / "jitchat.db" in written
    for path in written:
        assert KEY[6:].encode() not in path.read_bytes(), path


def test_a_key_is_looked_for_only_if_there_is_a_server_to_send_it_to(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
):
    def never(*asked: object) -> None:
        raise AssertionError

    monkeypatch.setattr(stored_keys, "find_key", never)

    assert jitchat("window", "hello").code == 0
    assert jitchat("config").code == 0
