"""`jitchat rot` with a local server that rejects requests and drops connections."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.providers.streams import DONE, STOP, delta, event
from tests.support import has_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Shell


def says(text: str) -> tuple[int, dict[str, str], bytes]:
    return 200, {}, "".join([event(delta(text)), event(STOP), DONE]).encode()


WELL = says("I do not know.")
BROKEN = (200, {}, event(delta("I do")).encode())
BUSY = (429, {"retry-after-ms": "5"}, b'{"error": {"message": "slow down"}}')


class Handler(BaseHTTPRequestHandler):
    """A server of chat completions: the next of `replies` is the answer, then `WELL`."""

    server: Any
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(sent["model"])
        self.server.sent.append(sent)
        status, headers, body = self.server.replies.pop(0) if self.server.replies else WELL
        self.send_response(status)
        kind = "text/event-stream" if status == 200 else "application/json"
        own = {"content-type": kind, "content-length": str(len(body))}
        for name, value in (own | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *told: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def server() -> Iterator[Any]:
    if not has_loopback():
        pytest.skip("needs the loopback interface")
    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.asked, made.sent, made.replies = [], [], []
    made.flags = (
        *("--base-url", f"http://127.0.0.1:{made.server_port}/v1", "--model", "m"),
        *("--limit", "8192", "--yes"),
    )
    thread = threading.Thread(target=made.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_rejected_requests_are_retried_and_a_broken_connection_fails_a_cell(
    jitchat: Shell, server: Any
):
    server.replies = [WELL, BUSY, WELL, BROKEN, BROKEN]
    tiny = ("--lengths", "500", "--depths", "0,100", "--kinds", "direct", "--modes", "full,jit")
    done = jitchat("rot", *tiny, *server.flags)

    assert done.code == 0, done.err
    assert "The endpoint is limiting requests (" in done.err
    assert "1 cell failed; `jitchat rot --resume r1` asks it again. The first failure: " in done.err
    assert "4 cells: 3 answered, 1 failed." in done.out
    assert len(server.asked) == 6

    again = jitchat("rot", "--resume", "last", *server.flags)
    assert "4 cells: 4 answered." in again.out
    assert len(server.asked) == 7


def test_a_judge_grades_the_answers_that_no_rule_finds_right(jitchat: Shell, server: Any):
    server.replies = [WELL, says('{"label": "CORRECT"}'), WELL, says('{"label": "WRONG"}')]
    tiny = ("--lengths", "500", "--depths", "0,100", "--kinds", "direct", "--modes", "full")
    done = jitchat("rot", *tiny, *server.flags, "--judge", "wise")

    assert done.code == 0, done.err
    assert server.asked == ["m", "wise", "m", "wise"]
    assert re.search(r"all +50 % of 2\b", done.out)
    (spent,) = json.loads(jitchat("usage", "--by", "purpose", "--json").out)
    assert (spent["name"], spent["sent"], spent["cost"]) == ("rot lab", 4, 0.0)
    assert spent["unreported"] == 4  # jitchat's own counts stand for them
    assert spent["input_tokens"] > 1_000


@pytest.mark.parametrize("parallel", ["1", "3"])
def test_a_run_stops_at_the_daily_spending_limit_and_can_be_resumed(
    jitchat: Shell, server: Any, home: Path, parallel: str
):
    home.mkdir()
    (home / "config.toml").write_text(
        "[models.m]\ninput_price = 10.0\noutput_price = 0\n[spending]\nday = 0.011\n"
    )
    server.replies = [WELL, WELL]
    tiny = ("--lengths", "500", "--depths", "0,50,100", "--kinds", "direct", "--modes", "full")
    done = jitchat("rot", *tiny, "--parallel", parallel, *server.flags)

    assert (done.code, len(server.asked)) == (1, 1)
    assert "Today: ~$0.00" in done.err
    assert " of $0.0110, and this would add ~$0.00" in done.err
    assert "continues the run" in done.err
    (home / "config.toml").write_text("[models.m]\ninput_price = 10.0\noutput_price = 0\n")
    assert "3 cells: 3 answered." in jitchat("rot", "--resume", "r1", *server.flags).out


REASONED = "".join(
    [
        event({"choices": [{"index": 0, "delta": {"reasoning_content": "Let me see"}}]}),
        event({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}),
        DONE,
    ]
).encode()
TINY = ("--lengths", "500", "--depths", "0,50", "--kinds", "direct", "--modes", "full")


def test_every_answer_has_the_same_cap_and_sampling_and_the_run_stores_them(
    jitchat: Shell, server: Any
):
    done = jitchat("rot", *TINY, "--seed", "7", *server.flags, "--json", "-")

    assert done.code == 0, done.err
    assert "(64 per answer)" in done.err
    wanted = {"temperature": 0.0, "seed": 7, "max_tokens": 64}
    assert [{name: each.get(name) for name in wanted} for each in server.sent] == [wanted] * 2
    run = json.loads(done.out)["run"]
    assert (run["answer"], run["temperature"], run["sampling_seed"]) == (64, 0.0, 7)
    shown = " ".join(jitchat("rot", "show", "r1", "--html", "-").out.split())
    assert "answers of up to 64 tokens" in shown
    assert "temperature 0, sampling seed 7" in shown


def test_the_users_sampling_and_cap_take_precedence(jitchat: Shell, server: Any, monkeypatch):
    for name, value in {"TEMPERATURE": "0.7", "SEED": "3", "MAX_TOKENS": "900"}.items():
        monkeypatch.setenv(f"JITCHAT_PROVIDER_{name}", value)
    server.replies = [(200, {}, REASONED)] * 2
    done = jitchat("rot", *TINY, "--max-answer", "20", *server.flags)

    assert done.code == 0, done.err
    sent = {(each["temperature"], each["seed"], each["max_tokens"]) for each in server.sent}
    assert sent == {(0.7, 3, 900)}
    assert "reasons" not in done.err


def test_a_model_that_reasons_gets_a_higher_cap_once_and_a_resumed_run_has_it(
    jitchat: Shell, server: Any
):
    server.replies = [(200, {}, REASONED), WELL, BROKEN, BROKEN]
    done = jitchat("rot", *TINY, "--max-answer", "20", *server.flags)

    assert done.code == 0, done.err
    assert [each["max_tokens"] for each in server.sent] == [20, 320, 320, 320]
    assert done.err.count("The model reasons: answers can take 320 tokens from now on.") == 1

    again = jitchat("rot", "--resume", "r1", *server.flags)
    assert again.code == 0, again.err
    assert [each["max_tokens"] for each in server.sent[4:]] == [320]
    refused = jitchat("rot", "--resume", "r1", "--max-answer", "9", *server.flags)
    assert refused.code == 2
    assert "--max-answer cannot be changed" in refused.err


def test_a_local_models_speed_is_measured_once_and_then_taken_from_its_runs(
    jitchat: Shell, server: Any
):
    counted = {"choices": [], "usage": {"prompt_tokens": 700, "completion_tokens": 4}}
    replied = "".join([event(delta("Sixty")), event(delta("!")), event(STOP), event(counted), DONE])
    timed = (200, {}, replied.encode())
    server.replies = [timed] * 4
    flags = (*("--provider", "llamacpp"), *server.flags)
    done = jitchat("rot", *TINY, *flags)

    assert done.code == 0, done.err
    _warming, probe, *cells = server.sent
    assert (probe["max_tokens"], len(probe["messages"]), len(cells)) == (16, 1, 2)
    assert "tokens per second." in " ".join(done.err.split())

    again = jitchat("rot", *TINY, *flags)
    assert again.code == 0, again.err
    assert len(server.sent) == 6, "two cells and no probe"
    assert "tokens per second." in " ".join(again.err.split())
