"""`jitchat rot` without the screen: consent before sending, and no result is lost."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from jitchat import models
from jitchat.cli import output
from jitchat.errors import StoreFull, Unreachable
from jitchat.lab.run_file import RunFile
from jitchat.providers.provider import Options, Piece, RetryScheduled
from tests.support import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from jitchat.values import Message
    from tests.cli.conftest import Result, Shell

TINY = ("--lengths", "500", "--depths", "0,100", "--kinds", "direct")
"""Six cells."""
PRICED = ("--model", "m")


def rot(jitchat: Shell, *more: str | Path, stdin: bytes = b"") -> Result:
    return jitchat("rot", *TINY, *more, stdin=stdin)


class Model(ScriptedProvider):
    """Knows no fact; `events`, by request number, occur instead of the answer."""

    def __init__(self, **events: Exception | Piece | signal.Signals) -> None:
        super().__init__(("I do not know.",), model="m")
        self.closed = 0
        self.events = {int(name.removeprefix("at")): event for name, event in events.items()}

    async def aclose(self) -> None:
        self.closed += 1

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        event = self.events.get(len(self.requests) + 1)
        async for piece in super().stream(messages, options):
            if isinstance(event, Exception):
                raise event
            if isinstance(event, signal.Signals):
                signal.raise_signal(event)
            elif event is not None:
                yield event
            event = None
            yield piece


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """Answers in place of the configured model."""
    made = Model()
    monkeypatch.setattr(models, "make_provider", lambda *asked: made)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-1")
    return made


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard input a terminal."""
    monkeypatch.setattr(output, "is_terminal", lambda stream: stream is sys.stdin)


def test_the_reader_needs_no_key_and_every_file_is_written(jitchat: Shell, tmp_path: Path):
    files = {name: tmp_path / f"out.{name}" for name in ("json", "html")}
    options = [each for name, path in files.items() for each in (f"--{name}", path)]
    done = rot(jitchat, *options)

    assert done.code == 0, done.err
    assert "Send" not in done.err
    assert done.err.startswith("6 cells for reader, context size 32,768 tokens:\n  6 requests, ~")
    assert "Right answers by length of the conversation" in done.out
    assert "6 cells: 6 answered." in done.out
    assert all(f"written to {path}" in done.err for path in files.values())
    assert done.err.endswith("Saved as r1: `jitchat rot show r1` shows it again.\n")
    written = json.loads(files["json"].read_text())
    assert len(written["cells"]) == 6
    assert {cell["mode"] for cell in written["cells"]} == {"full", "recency", "jit"}
    assert written["run"]["experiment"]["preset"] == "own"
    assert written["run"]["settings"]["embedder.name"] == '"none"'
    assert files["html"].read_text().startswith("<!DOCTYPE html>")


def test_a_share_below_the_required_one_fails(jitchat: Shell, model: Model):
    ran = rot(jitchat, *PRICED, "--yes", "--fail-under", "jit=0.5", "--fail-under", "full=0")

    assert ran.code == 1
    assert "Right answers" in ran.out
    assert ran.err.endswith(
        "jitchat: jit: 0 of 2 cells right, a share of 0.000; --fail-under requires 0.5.\n"
    )
    assert rot(jitchat, *PRICED, "--yes", "--fail-under", "jit=0").code == 0


def test_cells_that_do_not_fit_are_reported_first_and_count_as_wrong(jitchat: Shell, model: Model):
    small = ("--limit", "2000", "--reserve", "500", "--lengths", "500,3k", "--modes", "full")
    done = rot(jitchat, *PRICED, "--yes", *small, "--fail-under", "full=0.01")

    assert done.code == 1
    told = done.err.splitlines()
    assert told[0] == "4 cells for m at https://api.openai.com/v1, context size 2,000 tokens:"
    assert "2 cells do not fit, and will not be sent." in " ".join(map(str.strip, told))
    assert "full: 0 of 4 cells right (2 do not fit), a share of 0.000;" in told[-1]
    assert len(model.requests) == 2


@pytest.mark.usefixtures("terminal")
def test_another_model_is_asked_after_a_yes(jitchat: Shell, model: Model):
    refused = rot(jitchat, *PRICED, stdin=b"n\n")
    assert refused.code == 1
    assert refused.err.endswith("Send these requests? [y/N]: n\njitchat: Nothing was sent.\n")
    assert model.requests == []
    assert not (jitchat.home / "rot").exists()

    done = rot(jitchat, *PRICED, "--judge", "wise", stdin=b"y\n")
    assert done.code == 0, done.err
    assert "  plus up to 6 requests to wise at https://api.openai.com/v1, not" in done.err
    assert len(model.requests) == 12
    assert model.closed == 2, "who answers and who judges"


def test_without_a_terminal_nothing_is_sent_unless_a_flag_allows_it(jitchat: Shell, model: Model):
    refused = rot(jitchat, *PRICED, stdin=b"y\n")

    assert refused.code == 1
    assert "confirming the cost requires a terminal. Use --yes" in refused.err
    assert model.requests == []


def test_the_reader_with_a_remote_picker_needs_a_yes(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("JITCHAT_PICKER_MODEL", "small-1")
    monkeypatch.setenv("JITCHAT_PICKER_BASE_URL", "https://llm.example/v1")
    done = rot(jitchat)

    assert done.code == 1
    told = " ".join(done.err.split())
    assert "cost unknown. In addition, up to 2 requests to the picker small-1. jitchat:" in told
    assert "confirming the cost requires a terminal" in told
    assert not (jitchat.home / "rot").exists()


@pytest.mark.parametrize(
    ("options", "url"),
    [(("--model", "m"), "https://api.openai.com/v1"), (("--judge", "groq/m"), "https://api.groq")],
)
def test_a_missing_key_is_reported_before_anything_is_requested(
    jitchat: Shell, options: tuple[str, ...], url: str
):
    done = rot(jitchat, *options, "--yes")

    assert done.code == 1
    assert done.err.startswith(f"jitchat: Nothing was sent: {url}")
    assert "requires a key, but none is set. Set " in done.err
    assert not (jitchat.home / "rot").exists()


def test_waits_and_failures_of_a_model_are_reported(jitchat: Shell, model: Model):
    away = Unreachable("No server\x1b[2J there.", "Start it.")
    model.events = {1: RetryScheduled(0.0, "429 too many", asks_for_less=True), 2: away, 3: away}
    done = rot(jitchat, *PRICED, "--yes", "--parallel", "1")

    assert done.code == 0, done.err
    assert "The endpoint is limiting requests (429 too many).\n" in done.err
    assert (
        "1 cell failed; `jitchat rot --resume r1` asks it again."
        " The first failure: No server\x1b[2J there. Start it.\n"
    ) in done.err
    assert "6 cells: 5 answered, 1 failed." in done.out

    again = jitchat("rot", *PRICED, "--resume", "last", "--yes")
    assert again.code == 0, again.err
    assert again.err.startswith("r1, m, 500, ")
    assert (": 1 of 6 cells left, for m at https://api.openai.com/v1.\n  1 request, ~") in again.err
    assert " (64 per answer), cost unknown." in again.err
    assert "6 cells: 6 answered." in again.out
    assert len(model.requests) == 8


def test_an_aborted_run_says_how_to_resume(jitchat: Shell, model: Model):
    model.events = dict.fromkeys(range(1, 99), Unreachable("No server there.", "Start it."))
    done = jitchat("rot", "--lengths", "500", "--depths", "0,50", *PRICED, "--yes")

    assert done.code == 1
    assert "requests in a row failed; the last: No server there." in done.err
    assert done.err.endswith("`jitchat rot --resume r1` continues the run.\n")
    assert "answered" in done.out


@pytest.fixture
def heeds_ctrl_c() -> Iterator[None]:
    """Restore Ctrl+C, which is ignored if pytest runs in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_run_whose_results_cannot_be_stored_says_how_to_resume(
    jitchat: Shell, model: Model, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise StoreFull("The disk is full.", "Make room.")

    monkeypatch.setattr(RunFile, "keep", full)
    stopped = rot(jitchat, *PRICED, "--yes")
    assert stopped.code == 1
    assert "saved: `jitchat rot --resume r1` continues the run." in stopped.err
    assert stopped.err.rstrip().endswith("The disk is full. Make room.")


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_keeps_the_results_and_the_run_can_be_resumed(
    jitchat: Shell, model: Model, monkeypatch: pytest.MonkeyPatch
):
    model.events = {3: signal.SIGINT}
    stopped = rot(jitchat, *PRICED, "--yes")

    assert stopped.code == 130
    assert stopped.err.rstrip().endswith(
        "Stopped. Answers so far are saved: `jitchat rot --resume r1` continues the run."
    )
    assert stopped.out == ""
    assert "2/6" in jitchat("rot", "list").out

    other = jitchat("rot", "--provider", "reader", "--resume", "r1", "--yes")
    assert other.code == 2
    assert other.err == (
        "jitchat: r1 was started with openai m; now it would be reader reader."
        " Use what it was started with, or start a new run.\n"
    )
    builtin = jitchat("rot", *PRICED, "--resume", "r1", "--yes", "--embedder", "builtin")
    assert builtin.code == 2
    assert "r1 was started with the embedder " in builtin.err
    with monkeypatch.context() as patched:
        patched.setenv("JITCHAT_WINDOW_SIZE", "3000")
        wider = jitchat("rot", *PRICED, "--resume", "r1", "--yes")
    assert wider.code == 2
    assert wider.err == (
        'jitchat: r1 was started with window.size = "auto"; now it is 3000.'
        " Set it back, or start a new run.\n"
    )
    unasked = jitchat("rot", *PRICED, "--resume", "r1", "--fail-under", "jit=0")
    assert "confirming the cost requires a terminal" in unasked.err

    resumed = jitchat("rot", "--resume", "r1", "--yes")
    assert resumed.code == 0, "the run names the model"
    assert len(model.requests) == 7


@pytest.mark.usefixtures("demo")
def test_facts_are_planted_in_a_copy_of_the_users_conversation(jitchat: Shell, tmp_path: Path):
    before, out = jitchat.stored(), tmp_path / "out.json"
    own = ("--conversation", "demo", "--modes", "jit", "--json", out)
    done = jitchat("rot", *own, "--lengths", "1k,9000k", *TINY[2:])

    assert done.code == 0, done.err
    assert done.err.startswith(
        "Release planning (demo) is too short for 9000k, which is skipped.\n2 cells for"
    )
    assert "  The requests contain your conversation Release planning (demo), with" in done.err
    assert json.loads(out.read_text())["run"]["experiment"]["conversation"] == "demo"
    assert jitchat.stored() == before

    short = jitchat("rot", *own, "--lengths", "100k")
    assert short.code == 2
    assert short.err.startswith("jitchat: Release planning (demo) has ")
    assert short.err.endswith(
        " tokens, but the shortest length is 100,000."
        " Choose a shorter length, or a longer conversation.\n"
    )


LONG = (
    *("--lengths", "4k", "--depths", "0,100", "--kinds", "corrected,instruction"),
    *("--modes", "full,jit", "--talk", "long"),
)


def test_corrected_and_instruction_facts_are_asked_by_name(
    jitchat: Shell,
):
    done = jitchat("rot", *LONG, "--json", "-")

    assert done.code == 0, done.err
    experiment = done.json["run"]["experiment"]
    assert (experiment["talk"], experiment["kinds"]) == ("long", ["corrected", "instruction"])
    cells = {(each["kind"], each["mode"], each["depth"]): each for each in done.json["cells"]}
    assert len(cells) == 8
    assert all(each["held"] == 1 for (_, mode, _), each in cells.items() if mode == "full")
    corrected = [each for (kind, *_), each in cells.items() if kind == "corrected"]
    assert {each["verdict"] for each in corrected} <= {"right", "wrong"}
    assert any(each["verdict"] == "right" for each in corrected)
    obeyed = [each["rule"] for (kind, *_), each in cells.items() if kind == "instruction"]
    assert all(rule.startswith("does not ") for rule in obeyed), "a reader quotes"
    assert "long answers as filler" in jitchat("rot", "show", "r1", "--html", "-").out


def test_a_model_that_follows_an_instruction_is_right(jitchat: Shell, model: Model):
    grid = (*LONG[:5], "instruction", "--modes", "full", "--seed", "1")
    first = jitchat("rot", *grid, *PRICED, "--yes", "--json", "-").json
    at, cell = next(
        (at, each)
        for at, each in enumerate(first["cells"])
        if not each["expected"].endswith("sentence")
    )
    model.script = (f"{cell['expected']}.",)
    again = jitchat("rot", *grid, *PRICED, "--yes", "--json", "-").json

    assert (cell["verdict"], again["cells"][at]["verdict"]) == ("wrong", "right")
    system = model.requests[0][0].content
    assert "in what form to answer" in system
    rot(jitchat, *PRICED, "--yes")
    assert "in what form to answer" not in model.requests[-1][0].content


def test_long_talk_has_the_requested_length(jitchat: Shell):
    windows = jitchat("rot", *LONG, "--json", "-").json["figures"]["spent"]
    (full,) = (each for each in windows if each["mode"] == "full")
    assert 4_000 < full["tokens"] < 5_200


def test_synthetic_talk_is_not_combined_with_a_conversation_of_the_user(jitchat: Shell):
    done = jitchat("rot", *LONG, "--conversation", "demo", "--headless")

    assert done.code == 2
    assert "--talk chooses generated filler" in done.err
    assert jitchat("rot", "--talk", "loud", "--headless").code == 2
