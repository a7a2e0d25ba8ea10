"""`jitchat doctor`: which providers it checks, and what it reports about each."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from jitchat.cli import doctor
from jitchat.providers.catalogue import servers
from jitchat.providers.catalogue.models import LocalServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Shell

CANARY = "sk-canary-0123456789abcdef"
ANSWER = b'data: {"choices":[{"delta":{"content":"OK"}}]}\n\n'


class Handler(BaseHTTPRequestHandler):
    """A server of chat completions: `reply` is the status and the body of an answer."""

    server: Any

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        sent = json.loads(self.rfile.read(length))
        if self.path in self.server.told:
            self._send(200, "application/json", json.dumps(self.server.told[self.path]).encode())
            return
        self.server.asked.append((sent, self.headers.get("authorization")))
        status, body = self.server.reply
        self._send(status, "text/event-stream" if status == 200 else "application/json", body)

    def do_GET(self) -> None:
        rows = [{"id": name} for name in self.server.models]
        found = self.server.told.get(self.path, {"data": rows})
        self._send(200, "application/json", json.dumps(found).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *told: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def server() -> Iterator[Any]:
    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.asked, made.models, made.reply = [], ["first", "second"], (200, ANSWER)
    made.told = {}  # what it answers besides, by path
    made.url = f"http://127.0.0.1:{made.server_port}/v1"
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture(autouse=True)
def nobody_here(monkeypatch: pytest.MonkeyPatch) -> list[LocalServer]:
    """The local servers, for these tests."""
    found: list[LocalServer] = []

    async def find_local(**how: object) -> list[LocalServer]:
        return found

    monkeypatch.setattr(servers, "find_local", find_local)
    return found


@pytest.fixture
def config(home: Path) -> Path:
    home.mkdir()
    return home / "config.toml"


def lines_of(out: str) -> dict[str, str]:
    """Return each finding with its mark, by name."""
    rows = [line.split(maxsplit=2) for line in out.splitlines() if line[0] in "✓✗·"]
    return {name: f"{mark} {told}" for mark, name, told in rows}


def test_without_configuration_only_the_reader_is_checked(jitchat: Shell):
    done = jitchat("doctor")

    assert done.code == 0
    assert lines_of(done.out)["reader"] == "✓ quotes from the window"
    assert "Without an API key: openai (OPENAI_API_KEY), anthropic (ANTHROPIC_API_KEY)," in done.out
    assert not jitchat.home.exists()


def test_a_provider_is_checked_end_to_end_with_its_key(
    jitchat: Shell, config: Path, server: Any, monkeypatch: pytest.MonkeyPatch
):
    config.write_text(
        f'[providers.work]\nbase_url = "{server.url}"\nmodel = "m"\napi_key_env = "WORK_KEY"\n'
    )
    monkeypatch.setenv("WORK_KEY", CANARY)

    assert jitchat("conversations").code == 0  # there is a database
    done = jitchat("doctor")

    assert done.code == 0
    (spent,) = json.loads(jitchat("usage", "--by", "purpose", "--json").out)
    assert (spent["name"], spent["sent"], spent["cost"]) == ("doctor", 1, 0.0)
    assert lines_of(done.out)["work"].startswith("✓ m: answered after 0.")
    ((sent, authorization),) = server.asked
    assert sent["messages"] == [{"role": "user", "content": "Say OK."}]
    assert sent["model"] == "m"
    assert authorization == f"Bearer {CANARY}"
    assert "canary" not in done.out + done.err


@pytest.mark.parametrize(
    ("running", "context"),
    [([], 32_768), ([{"name": "q:latest", "context_length": 8_192}], 8_192)],
)
def test_ollama_is_checked_with_the_context_size_of_the_chat(
    jitchat: Shell, config: Path, server: Any, running: list[object], context: int
):
    about = {"general.architecture": "q", "q.context_length": 131_072}
    server.told = {"/api/ps": {"models": running}, "/api/show": {"model_info": about}}
    server.reply = (200, b'{"message":{"content":"OK"},"done":false}\n')
    address = server.url.removesuffix("/v1")
    config.write_text(f'[providers.ollama]\nbase_url = "{address}"\nmodel = "q"\n')

    done = jitchat("doctor", "ollama")

    assert done.code == 0, done.out
    ((sent, _),) = server.asked
    assert sent["options"]["num_ctx"] == context


def test_without_a_model_the_first_of_the_list_is_checked(
    jitchat: Shell, config: Path, server: Any
):
    config.write_text(f'[providers.work]\nbase_url = "{server.url}"\n')

    (found,) = jitchat("doctor", "work", "--json").json["providers"]

    assert found["ok"] is True
    assert found["model"] == server.asked[0][0]["model"] == "first"
    assert "first in its list" in found["told"]
    assert 0 < found["seconds"] < 20


def test_a_server_without_models_is_reported(jitchat: Shell, config: Path, server: Any):
    server.models = []
    config.write_text(f'[providers.work]\nbase_url = "{server.url}"\n')

    done = jitchat("doctor", "work")

    assert done.code == 1
    assert "✗ work  work is running, but has no models. Load a model there" in done.out


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ((401, f'{{"error":"Bad key {CANARY}"}}'.encode()), "refused the key (HTTP 401)"),
        ((404, b'{"error":{"message":"no model m"}}'), "no model m"),
    ],
)
def test_every_problem_is_a_sentence_with_a_remedy(
    jitchat: Shell, config: Path, server: Any, reply: tuple[int, bytes], told: str
):
    server.reply = reply
    content = f'[providers.work]\nbase_url = "{server.url}"\nmodel = "m"\napi_key = "{CANARY}"\n'
    config.write_text(content)

    done = jitchat("doctor")

    assert done.code == 1
    assert told in lines_of(done.out)["work"]
    assert "canary" not in done.out + done.err
    if reply[0] == 401:
        assert "Run `jitchat keys set work`." in done.out


def test_a_missing_answer_times_out(
    jitchat: Shell, config: Path, monkeypatch: pytest.MonkeyPatch, server: Any
):
    async def never(*asked: object) -> str:
        raise TimeoutError

    monkeypatch.setattr(doctor, "_first_model", never)
    config.write_text(f'[providers.work]\nbase_url = "{server.url}"\n')

    done = jitchat("doctor", "work")

    assert done.code == 1
    assert "work did not start to answer within 20 seconds." in done.out


def test_a_named_provider_without_a_key_fails_without_a_request(jitchat: Shell):
    done = jitchat("doctor", "groq", "reader")

    assert done.code == 1
    assert "Groq requires a key, but none is set. Set GROQ_API_KEY, or run" in done.out
    assert "✓ reader" in done.out
    assert "Without an API key" not in done.out


def test_a_failing_key_command_is_reported(jitchat: Shell, config: Path):
    config.write_text('[providers.groq]\napi_key_cmd = "no-such-program-at-all"\n')

    done = jitchat("doctor")

    assert done.code == 1
    assert "api_key_cmd of groq cannot be run" in lines_of(done.out)["groq"]


def test_a_local_server_is_checked_without_being_named(
    jitchat: Shell, server: Any, nobody_here: list[LocalServer]
):
    nobody_here.append(LocalServer("lmstudio", server.url, ()))

    done = jitchat("doctor")

    assert lines_of(done.out)["lmstudio"].startswith("✓ first (first in its list): answered")
    assert "ollama" not in lines_of(done.out)


def test_an_unknown_name_is_reported_before_any_request(jitchat: Shell):
    done = jitchat("doctor", "grok")

    assert (done.code, done.out) == (2, "")
    assert "There is no provider 'grok'." in done.err


def test_the_environment_is_checked(
    jitchat: Shell, config: Path, monkeypatch: pytest.MonkeyPatch, home: Path
):
    config.write_text('[picker]\nmodel = "small"\n')
    (home / "keys.toml").write_text(f'groqq = "{CANARY}"')
    (home / "jitchat.db").write_text("no database " * 100)
    monkeypatch.setenv("ALL_PROXY", f"socks://me:{CANARY}@proxy.test:1")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/certificates.pem")
    monkeypatch.setenv("JITCHAT_WINDOW_RECNT", "5")

    done = jitchat("doctor", "--json")

    assert done.code == 1
    told = {each["told"]: each["ok"] for each in json.loads(done.raw)["checks"]}
    assert [ok for text, ok in told.items() if "picker.model" in text] == [False]
    assert [ok for text, ok in told.items() if "Others can read the keys" in text] == [False]
    assert [ok for text, ok in told.items() if "jitchat.db" in text] == [False]
    assert told["$ALL_PROXY is not a proxy address (http://HOST:PORT)."] is False
    assert told["$SSL_CERT_FILE names a file that does not exist."] is False
    assert [ok for text, ok in told.items() if "JITCHAT_WINDOW_RECNT" in text] == [None]
    assert "canary" not in done.out + done.err


def test_the_help_says_that_a_request_is_sent(jitchat: Shell):
    assert 'a tiny request ("Say OK.")' in " ".join(jitchat("doctor", "--help").out.split())
