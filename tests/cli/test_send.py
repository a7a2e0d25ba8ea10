"""`jitchat send`: one exchange, streamed and stored, with a clean end after any failure."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jitchat import models
from jitchat.cli import options
from jitchat.errors import KeyRefused, RequestRefused, StreamCut
from jitchat.providers.provider import Finished, Options, PartRefused, Piece, ReplyDelta
from jitchat.store import database as database_module
from jitchat.values import REQUEST_CONTEXT, ToolCall
from jitchat.window.render import READING
from tests.cli.conftest import Shell
from tests.examples import examples
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from jitchat.values import Message

pytestmark = pytest.mark.usefixtures("demo")
DEMO = ("--conversation", "demo")
QUESTION = "what did we settle on for the deploy window?"


def last_two(jitchat: Shell) -> list[str]:
    return jitchat.stored()["demo"][-2:]


def test_the_reader_answers_and_both_turns_are_stored(jitchat: Shell):
    done = jitchat("send", QUESTION, "--conversation", "demo")

    assert (done.code, done.err) == (0, "")
    assert "Tuesday 02:00 UTC" in done.out
    assert "(#9, assistant" in done.out
    assert last_two(jitchat) == [QUESTION, done.out.rstrip("\n")]


def test_the_mode_decides_what_the_provider_gets(jitchat: Shell, scripted: ScriptedProvider):
    for mode in ("recency", "full"):
        assert jitchat("send", *DEMO, QUESTION, "--mode", mode).code == 0

    sizes = [sum(len(m.content) for m in request) for request in scripted.requests]
    assert sizes[1] > 3 * sizes[0]


def test_the_reply_is_printed_chunk_by_chunk(
    jitchat: Shell, scripted: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
):
    from jitchat.cli import output

    printed: list[str] = []
    scripted.script = ("One", " two", " three.")
    monkeypatch.setattr(output, "say", lambda text, **how: printed.append(text))

    assert jitchat("send", *DEMO, "count").code == 0
    assert printed == ["One", " two", " three.", ""]


@pytest.mark.parametrize(("reply", "out"), [("Yes.", "Yes.\n"), ("Yes.\n", "Yes.\n")])
def test_the_cursor_ends_at_the_start_of_a_line(
    jitchat: Shell, scripted: ScriptedProvider, reply: str, out: str
):
    scripted.script = (reply,)

    assert jitchat("send", *DEMO, "ok?").out == out


def test_the_text_can_come_from_standard_input(jitchat: Shell, scripted: ScriptedProvider):
    assert jitchat("send", *DEMO, "-", stdin=b"line one\nline two\n").code == 0

    assert last_two(jitchat) == ["line one\nline two\n", "Understood."]


def test_a_refusal_is_a_sentence_and_nothing_is_printed(jitchat: Shell, scripted: ScriptedProvider):
    scripted.script = (KeyRefused("The provider refused the key.", "Check OPENAI_API_KEY."),)

    done = jitchat("send", *DEMO, "hello")

    assert (done.code, done.out) == (1, "")
    assert done.err == "jitchat: The provider refused the key. Check OPENAI_API_KEY.\n"


def test_the_partial_reply_of_a_broken_stream_is_printed_and_stored(
    jitchat: Shell, scripted: ScriptedProvider
):
    scripted.script = ("Half an ", StreamCut("The answer stopped half way.", "Send again."))

    done = jitchat("send", *DEMO, "hello")

    assert (done.code, done.out) == (3, "Half an \n")
    assert done.err == "jitchat: The answer stopped half way. Send again.\n"
    assert last_two(jitchat) == ["hello", "Half an "]


def test_what_the_server_refuses_and_what_that_costs_is_said(
    jitchat: Shell, scripted: ScriptedProvider
):
    told = "tiny-1 is sent no tools."
    refusal = PartRefused(RequestRefused("No.", ""), "tools", told)
    lost = "The prefix that the provider may have cached is lost."
    scripted.script, scripted.later = (refusal,), [("Done.",), (refusal,), ("Done again.",)]

    first, second = jitchat("send", "--new", "hello"), jitchat("send", "hello again")

    assert (first.out, second.out) == ("Done.\n", "Done again.\n")
    assert told in first.err
    assert lost not in first.err
    assert f"{told} {lost}\n" in second.err


@pytest.mark.parametrize(
    ("finished", "why", "remedy"),
    [
        (Finished("length"), "The reply reached its maximum length (length).", "max_tokens"),
        (Finished("MAX_TOKENS"), "The reply reached its maximum length (MAX_TOKENS).", '"Go on."'),
        (
            Finished("content_filter"),
            "The provider's content filter stopped the reply (content_filter).",
            "Rephrase",
        ),
        (
            Finished("refusal", "cyber: It may harm."),
            "The model refused to answer (refusal: cyber: It may harm.).",
            "another model",
        ),
        (
            Finished("tool_calls"),
            "The model called a tool, but none was offered (tool_calls).",
            "No tool was run",
        ),
        (Finished("odd"), "The provider stopped before the end of the reply (odd).", ""),
    ],
)
def test_a_truncated_reply_is_reported_with_the_reason_and_a_remedy(
    jitchat: Shell, scripted: ScriptedProvider, finished: Finished, why: str, remedy: str
):
    scripted.script = ("Once upon a", finished)

    done = jitchat("send", *DEMO, "a story")

    assert (done.code, done.out) == (3, "Once upon a\n")
    assert done.err.startswith(f"jitchat: {why}")
    assert remedy in done.err
    assert "3, the reply is incomplete" in " ".join(jitchat("send", "--help").out.split())


def test_a_refusal_without_text_names_the_reason(jitchat: Shell, scripted: ScriptedProvider):
    scripted.script = (Finished("refusal", "cyber"),)

    done = jitchat("send", *DEMO, "a story")

    assert (done.code, done.out) == (1, "")
    assert "returned an empty answer: the model refused to answer (refusal: cyber)" in done.err


def test_full_that_does_not_fit_sends_nothing_and_states_the_excess(
    jitchat: Shell, scripted: ScriptedProvider
):
    done = jitchat("send", *DEMO, QUESTION, "--mode", "full", "--limit", "3000")

    assert done.code == 1
    assert "more than the budget of 2,250 (limit 3,000 − reserve 750)" in done.err
    assert scripted.requests == []


class Stubborn(ScriptedProvider):
    """Streams the first half, simulates Ctrl+C, and never reaches the second."""

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        yield ReplyDelta("The first half")
        signal.raise_signal(signal.SIGINT)
        await asyncio.Event().wait()
        yield ReplyDelta("the second half")


def test_ctrl_c_keeps_the_partial_reply(jitchat: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(models, "make_provider", lambda *asked: Stubborn())

    # Started in the background by a shell, Python finds Ctrl+C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = jitchat("send", *DEMO, "go on")
    finally:
        signal.signal(signal.SIGINT, before)

    assert done.code == 130
    assert done.out == "The first half\n"
    assert last_two(jitchat) == ["go on", "The first half"]


def test_a_closed_pipe_ends_it_quietly_and_keeps_the_partial_reply(
    jitchat: Shell, scripted: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
):
    from jitchat.cli import output

    scripted.script = ("one ", "two ", "three")
    echo, calls = output.click.echo, []

    def closed(text: str, **how: object) -> None:
        calls.append(text)
        if len(calls) > 1:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")
        echo(text, **how)

    monkeypatch.setattr(output.click, "echo", closed)

    done = jitchat("send", *DEMO, "count")

    assert (done.code, done.out, done.err) == (141, "one ", "")
    assert last_two(jitchat) == ["count", "one two "]


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("http://models.example/v1", True),
        ("https://models.example/v1", False),
        ("http://localhost:8080/v1", False),
        ("http://127.0.0.1:8080/v1", False),
        ("http://[::1]:8080/v1", False),
        ("http://[bad", False),
    ],
)
def test_a_key_sent_unencrypted_causes_a_warning(
    jitchat: Shell,
    scripted: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    warned: bool,
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")

    done = jitchat("send", *DEMO, "hi", "--base-url", address, "--model", "m")

    assert ("unencrypted" in done.err) == warned
    assert "canary" not in done.err + done.out


def test_the_address_the_model_and_the_key_reach_the_provider(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
):
    from jitchat.providers.http import provider as http

    made: list[object] = []

    class Recorded(ScriptedProvider):
        def __init__(self, endpoint: object, protocol: object, **more: object) -> None:
            super().__init__()
            made.append(endpoint)

    monkeypatch.setattr(http, "HttpProvider", Recorded)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")

    assert (
        jitchat("send", *DEMO, "hi", "--base-url", "http://localhost:1/v1", "--model", "m").code
        == 0
    )
    (endpoint,) = made
    assert (endpoint.base_url, endpoint.model) == ("http://localhost:1/v1", "m")
    assert endpoint.key == "sk-canary-0123456789abcdef"


def test_an_unreachable_server_is_reported_without_the_key(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch, unused_port: int
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")

    done = jitchat(
        "send", *DEMO, "hi", "--base-url", f"http://127.0.0.1:{unused_port}/v1", "--model", "m"
    )

    assert done.code == 1
    assert f"cannot be reached at http://127.0.0.1:{unused_port}" in done.err
    assert "canary" not in done.err


@pytest.fixture
def unused_port(tmp_path: Path) -> int:
    """Return a port on which, most likely, no process listens."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_piped_text_is_the_message_or_follows_it(
    jitchat: Shell, scripted: ScriptedProvider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(options, "is_piped", lambda: True)

    assert jitchat("send", *DEMO, stdin=b"what now?\n").code == 0
    assert last_two(jitchat) == ["what now?\n", "Understood."]

    assert jitchat("send", *DEMO, "why?", stdin=b"line 1\nline 2\n").code == 0
    assert last_two(jitchat)[0] == "why?\n\nline 1\nline 2\n"

    assert jitchat("send", *DEMO, "alone", stdin=b"\n").code == 0
    assert last_two(jitchat)[0] == "alone"


@examples(20)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40))
@example("a\r\nb\r\n\x1b[2J\u202e\ufeff \u3000\n\n")
def test_a_piped_text_and_the_reply_in_a_pipe_are_as_they_came(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        provider = ScriptedProvider((f"Reply {text}", "."))
        patch.setenv("JITCHAT_HOME", folder)
        patch.setenv("JITCHAT_EMBEDDER_NAME", "none")
        patch.setattr(models, "make_provider", lambda *_: provider)
        run = Shell(Path(folder))
        done = run("send", "--new", "-", stdin=f"Say {text}".encode())
        assert done.code == 0
        assert done.raw == f"Reply {text}.\n".encode()
        (texts,) = run.stored().values()
        assert texts[-2:] == [f"Say {text}", f"Reply {text}."]
        assert provider.requests[-1][-1].content.endswith(f"Say {text}")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"ab\0c", "Standard input has a NUL at byte 2."),
        ("日\0".encode(), "Standard input has a NUL at byte 3."),
        ("aä".encode("latin-1"), "Standard input has no UTF-8 at byte 1."),
        ("äö".encode() + b"\xff", "Standard input has no UTF-8 at byte 4."),
        ("hi".encode("utf-16"), "Standard input has no UTF-8 at byte 0."),
    ],
)
def test_piped_data_that_is_no_text_is_refused_with_its_place(
    jitchat: Shell, scripted: ScriptedProvider, data: bytes, told: str
):
    done = jitchat("send", *DEMO, "-", stdin=data)

    assert (done.code, done.out) == (2, "")
    assert done.err == f"jitchat: {told} Give a text in UTF-8.\n"
    assert not scripted.requests


def test_an_argument_that_is_no_text_is_refused_with_its_place(
    jitchat: Shell, scripted: ScriptedProvider
):
    done = jitchat("send", *DEMO, os.fsdecode("ä".encode() + b"\xff"))

    assert done.err == "jitchat: TEXT has no UTF-8 at byte 2. Give a text in UTF-8.\n"
    assert not scripted.requests


def test_a_byte_order_mark_is_taken_off_with_a_sentence(jitchat: Shell, scripted: ScriptedProvider):
    done = jitchat("send", *DEMO, "-", stdin=b"\xef\xbb\xbfhi")

    assert "jitchat: the byte-order mark of standard input was taken off.\n" in done.err
    assert last_two(jitchat)[0] == "hi"


def test_without_a_text_or_a_pipe_there_is_an_error(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(options, "is_piped", lambda: False)
    refused = jitchat("send")
    assert refused.code == 2
    assert "TEXT is missing." in refused.err


def test_without_a_conversation_option_the_one_used_is_reported(
    jitchat: Shell, scripted: ScriptedProvider
):
    assert jitchat("send", "hello", "--conversation", "demo").err == ""
    assert jitchat("send", "hello").err == "to chat-1, #1\n"


@pytest.mark.parametrize("refused", [("x", "--attach", "gone.md"), (" ",), ("see @../",)])
def test_a_refused_message_leaves_no_new_conversation(
    jitchat: Shell, scripted: ScriptedProvider, refused: tuple[str, ...]
):
    assert jitchat("send", "--new", *refused).code == 2
    assert list(jitchat.stored()) == ["demo"]


def test_a_new_conversation_is_started_and_named_after_the_message(
    jitchat: Shell, scripted: ScriptedProvider
):
    sent = jitchat("send", "--new", "about the harbour")
    assert sent.err == "to chat-1, #1\n"
    assert jitchat.stored()["chat-1"] == ["about the harbour", "Understood."]
    assert "About the harbour" in jitchat("conversations").out
    both = jitchat("send", "--new", *DEMO, "hello")
    assert both.code == 2
    assert "--new starts a new conversation." in both.err


def test_json_has_the_whole_exchange(jitchat: Shell, scripted: ScriptedProvider):
    done = jitchat("send", "--json", *DEMO, "hello")
    found = json.loads(done.out)
    assert done.err == ""
    assert (found["conversation"], found["turn"], found["reply_turn"]) == ("demo", 61, 62)
    assert (found["reply"], found["status"], found["error"]) == ("Understood.", "complete", None)
    assert found["window"]["mode"] == "jit"
    assert found["window"]["used"] > 0


def test_json_has_the_totals_of_all_requests_of_the_message(
    jitchat: Shell, scripted: ScriptedProvider
):
    call = ToolCall("1", REQUEST_CONTEXT, '{"query": "deploy window"}')
    scripted.script, scripted.later = (call,), [("On Tuesday.",)]
    done = jitchat("send", "--json", *DEMO, "--request-context", "on", "what of the deploy window?")
    found = json.loads(done.out)
    assert (found["reply"], found["requests"]) == ("On Tuesday.", 2)
    assert (found["usage"]["input_tokens"], found["usage"]["output_tokens"]) == (200, 20)
    assert (found["cost"], found["cost_unknown"]) == (0.0, 0)  # a model that runs here


def test_json_has_the_error(jitchat: Shell, scripted: ScriptedProvider):
    scripted.script = (KeyRefused("The provider refused the key.", "Check OPENAI_API_KEY."),)
    done = jitchat("send", "--json", *DEMO, "hello")
    found = json.loads(done.out)
    assert done.code == 1
    assert (found["reply"], found["turn"]) == (None, 61)
    assert found["error"] == "The provider refused the key. Check OPENAI_API_KEY."


def test_instructions_can_be_given_for_one_message(jitchat: Shell, scripted: ScriptedProvider):
    assert jitchat("send", *DEMO, "--system", "Answer in French.", "hello").code == 0
    text, _ = scripted.requests[-1][0].content.split(READING)
    assert text == "Answer in French.\n\n"


def test_send_says_that_it_waits_for_a_locked_database(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setattr(database_module, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr(database_module, "SAID_AFTER", 0.0)
    with closing(sqlite3.connect(home / "jitchat.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        done = jitchat("send", "deploy?", "--conversation", "demo")
    assert done.code == 1
    waits, fails = done.err.splitlines()[-2:]
    assert waits.endswith(database_module.LOCKED)
    assert "is locked by another program. Close it, or wait, and try again." in fails
