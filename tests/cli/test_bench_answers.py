"""`jitchat bench locomo --answerer … --judge …`: consent before sending, traceable figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jitchat import models as resolving
from jitchat.bench import prompt
from jitchat.cli import output
from jitchat.cli.bench_options import with_model
from jitchat.cli.options import Flags
from jitchat.errors import RequestRefused, Unreachable
from jitchat.providers.local.engine import EnginePlan
from jitchat.providers.provider import Finished
from tests.bench.support import labelled_sample, question
from tests.support import ScriptedProvider
from tests.transfer.files import written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from jitchat.providers.provider import Options
    from jitchat.settings.profiles import Profile
    from tests.cli.conftest import Result, Shell

JUDGED = '{"label": "CORRECT"}'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    asked = (
        question("What is on the photo of the red kite?", ["D1:2"]) | {"answer": "a red kite"},
        question("Who came ten days later?", ["D2:1"], 1) | {"answer": "Bo, Ann"},
    )
    return written(tmp_path, "f.json", [labelled_sample(*asked)])


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedProvider]:
    """Providers by the name of their model, in place of real ones."""
    known = {
        "talker": ScriptedProvider(["Bo, ", "Ann"], model="talker"),
        "weigher": ScriptedProvider([JUDGED], model="weigher"),
        "mumbler": ScriptedProvider(["Well…"], model="mumbler"),
        "away": ScriptedProvider([Unreachable("No server there.", "Start it.")], model="away"),
    }

    def choose(profile: Profile, *asked: object) -> ScriptedProvider:
        return known[profile.model]

    monkeypatch.setattr(resolving, "make_provider", choose)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-1")
    return known


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make standard input a terminal."""
    monkeypatch.setattr(output, "is_terminal", lambda _: True)


def asked(jitchat: Shell, data: Path, *more: str | Path, stdin: bytes = b"") -> Result:
    start = ("bench", "locomo", "--data", data, "--modes", "full,jit")
    return jitchat(*start, *more, stdin=stdin)


def set_prices(jitchat: Shell, model: str, price_in: int, price_out: int) -> None:
    prices = f"input_price = {price_in}\noutput_price = {price_out}"
    jitchat.home.mkdir(exist_ok=True)
    (jitchat.home / "config.toml").write_text(f'[models."{model}"]\n{prices}\n')


def rows(out: str, title: str) -> dict[str, list[str]]:
    """The cells of one table by their category, without the interval."""
    lines = out[out.index(title) :].splitlines()[1:]
    end = next((place for place, line in enumerate(lines) if ": " in line), len(lines))
    cells = [line.replace(" to ", "…").split() for line in lines[:end]]
    return {each[0]: each[1:3] + each[4:] for each in cells if len(each) == 7}


def test_the_reader_answers_without_a_key_and_without_consent(
    jitchat: Shell, data: Path, tmp_path: Path
):
    out = tmp_path / "out.json"
    done = asked(jitchat, data, "--answerer", "reader", "--json", out)
    assert done.code == 0, done.err
    assert "Send" not in done.err
    found = rows(done.out, "jit: answered by reader")
    assert found["all"][0] == "2"
    assert float(found["single-hop"][1]) > 0.1
    assert found["all"][2:] == ["–", "–", "0"]
    written_down = json.loads(out.read_text())
    assert written_down["answerer"]["provider"] == "reader"
    assert written_down["answerer"]["instructions"] == [prompt("briefly"), prompt("by_date")]
    assert written_down["answerer"]["usd"] == 0
    assert "judge" not in written_down
    reached = written_down["answered"]["jit"]
    assert f"{reached['single-hop']['f1']:.3f}" == found["single-hop"][1]
    assert "judged" not in reached["all"]
    assert len((tmp_path / "out.answers.jsonl").read_text().splitlines()) == 4


def test_a_local_model_needs_no_consent_and_is_sampled_the_same_each_time(
    jitchat: Shell,
    data: Path,
    tmp_path: Path,
    models: dict[str, ScriptedProvider],
    monkeypatch: pytest.MonkeyPatch,
):
    class Recording(ScriptedProvider):
        def stream(self, messages: Sequence[object], options: Options):
            sent.append(options)
            return super().stream(messages, options)

    sent: list[Options] = []
    models["smollm2"] = Recording(["Bo, ", "Ann"], model="smollm2")
    plan = EnginePlan(tmp_path / "m.gguf", 4_096, 1, 0, 0)
    monkeypatch.setattr(resolving, "engine_plan", lambda *_: plan)
    out = tmp_path / "out.json"
    done = asked(jitchat, data, "--answerer", "local", "--sample", "1", "--json", out)
    assert done.code == 0, done.err
    assert "f, full: 1 of 1 question did not fit the window." in done.err
    assert "  time: " in done.err
    assert "answers: 0 of 1\nanswers: 1 of 1" in done.err
    asked_for = (sent[-1].temperature, sent[-1].seed, sent[-1].max_tokens)
    assert asked_for == (0.0, 1, 32)
    kept = json.loads(out.read_text())
    assert (kept["data"]["sample"], kept["data"]["seed"]) == (1, 1)
    assert kept["does_not_fit"] == {"full": 1}
    assert kept["answerer"]["max_tokens"] == 32
    (line,) = (tmp_path / "out.answers.jsonl").read_text().splitlines()
    assert json.loads(line)["sample"] == {"sample": 1, "seed": 1}


def test_answers_and_judgements_are_requested_after_a_yes(
    jitchat: Shell, data: Path, tmp_path: Path, models: dict[str, ScriptedProvider], terminal: None
):
    out = tmp_path / "out.json"
    arguments = ("--answerer", "talker", "--judge", "weigher", "--json", out)
    set_prices(jitchat, "talker", 2, 4)
    done = asked(jitchat, data, *arguments, stdin=b"y\n")
    assert done.code == 0, done.err
    assert "talker at https://api.openai.com/v1:\n  full: 2 requests, ~" in done.err
    assert "weigher at https://api.openai.com/v1:\n  judgements: 4 requests, ~" in done.err
    assert "out $0.0005 (at 32 tokens per reply)" in done.err
    assert "cost: in unknown, out unknown" in done.err
    assert (len(models["talker"].requests), len(models["weigher"].requests)) == (4, 4)
    assert rows(done.out, "full: answered by talker, judged by weigher") == {
        "all": ["2", "0.500", "1.000", "0", "0"],
        "single-hop": ["1", "0.000", "1.000", "0", "0"],
        "multi-hop": ["1", "1.000", "1.000", "0", "0"],
    }
    found = json.loads(out.read_text())
    scores = found["answered"]["jit"]["all"]
    assert (scores["judged"], scores["not_judged"], scores["correct"]) == (2, 0, 1.0)
    assert found["settings"]["provider.model"] == '"talker"'
    assert found["answerer"]["input_tokens"] == 400
    assert found["answerer"]["usd"] == pytest.approx((400 * 2 + 40 * 4) / 1e6)
    assert (found["judge"]["model"], found["judge"]["usd"]) == ("weigher", None)
    (spent,) = json.loads(jitchat("usage", "--by", "purpose", "--json").out)
    assert (spent["name"], spent["sent"], spent["cost_unknown"]) == ("benchmark", 8, 4)
    assert spent["cost"] == pytest.approx(found["answerer"]["usd"])


def test_the_known_prices_of_a_model_are_used_unless_others_are_given(
    jitchat: Shell, data: Path, models: dict[str, ScriptedProvider]
):
    models["gpt-4o-mini"] = ScriptedProvider(["Bo"], model="gpt-4o-mini")
    told = asked(jitchat, data, "--answerer", "gpt-4o-mini").err
    assert "cost: in $" in told
    assert "unknown" not in told
    set_prices(jitchat, "gpt-4o-mini", 0, 0)
    assert "cost: in $0.00, out $0.00" in asked(jitchat, data, "--answerer", "gpt-4o-mini").err


def test_a_no_sends_nothing(
    jitchat: Shell, data: Path, models: dict[str, ScriptedProvider], terminal: None
):
    done = asked(jitchat, data, "--answerer", "talker", stdin=b"n\n")
    assert done.code == 1
    assert done.err.endswith("jitchat: Nothing was sent.\n")
    assert models["talker"].requests == []


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("chosen", [("--answerer", "talker"), ("--judge", "weigher")])
def test_a_missing_key_is_reported_before_anything_is_sent(
    jitchat: Shell,
    data: Path,
    models: dict[str, ScriptedProvider],
    monkeypatch: pytest.MonkeyPatch,
    chosen: tuple[str, str],
):
    monkeypatch.delenv("OPENAI_API_KEY")
    models["reader"] = ScriptedProvider(["a red kite"], model="reader")
    done = asked(jitchat, data, "--answerer", "reader", *chosen, stdin=b"y\n")
    assert done.code == 1
    assert (
        "requires a key, but none is set. Set OPENAI_API_KEY, or run `jitchat keys set openai`"
        in done.err
    )
    assert "Send these requests?" not in done.err
    assert all(not provider.requests for provider in models.values())

    local = ("--base-url", "http://localhost:8080/v1", "--limit", "8192", "--yes")
    assert asked(jitchat, data, "--answerer", "reader", *chosen, *local).code == 0


def test_without_a_terminal_nothing_is_sent_unless_a_flag_allows_it(
    jitchat: Shell, data: Path, models: dict[str, ScriptedProvider]
):
    refused = asked(jitchat, data, "--answerer", "talker", stdin=b"y\n")
    assert refused.code == 1
    assert "confirming the cost requires a terminal. Use --yes" in refused.err
    assert models["talker"].requests == []

    told = asked(jitchat, data, "--answerer", "talker", "--yes")
    assert told.code == 0, told.err
    assert len(models["talker"].requests) == 4
    assert "full: 2 requests" in told.err


def test_the_readers_answers_cost_nothing_but_their_judge_does(
    jitchat: Shell, data: Path, models: dict[str, ScriptedProvider], monkeypatch: pytest.MonkeyPatch
):
    models["reader"] = ScriptedProvider(["a red kite"], model="reader")
    done = asked(jitchat, data, "--answerer", "reader", "--judge", "mumbler")
    assert "requires a terminal" in done.err
    assert "reader" not in done.err
    assert models["reader"].requests == models["mumbler"].requests == []

    done = asked(jitchat, data, "--answerer", "reader", "--judge", "mumbler", "--yes")
    assert rows(done.out, "jit: answered by reader")["all"] == ["2", "0.500", "–", "2", "0"]


def test_a_second_run_requests_only_missing_answers(
    jitchat: Shell, data: Path, tmp_path: Path, models: dict[str, ScriptedProvider]
):
    first = ("--answerer", "talker", "--answers", tmp_path / "kept.jsonl")
    assert asked(jitchat, data, *first, "--yes").code == 0
    before = rows(asked(jitchat, data, *first).out, "jit: answered by")
    assert len(models["talker"].requests) == 4

    judged = asked(jitchat, data, *first, "--judge", "weigher", "--yes")
    assert judged.code == 0, judged.err
    assert "talker at" not in judged.err
    assert len(models["talker"].requests) == 4
    assert len(models["weigher"].requests) == 4
    after = rows(judged.out, "jit: answered by")
    assert [each[:2] for each in after.values()] == [each[:2] for each in before.values()]


def test_replies_are_stored_in_the_data_folder_by_default(jitchat: Shell, data: Path):
    asked(jitchat, data, "--answerer", "reader")
    assert len((jitchat.home / "answers.jsonl").read_text().splitlines()) == 4


def test_an_unreachable_server_stops_the_run_or_is_reported(
    jitchat: Shell, data: Path, tmp_path: Path, models: dict[str, ScriptedProvider]
):
    few = asked(jitchat, data, "--answerer", "away", "--yes", "--json", tmp_path / "out.json")
    assert few.code == 0
    assert "4 requests failed; run the command again to retry them." in few.err
    assert " The first failure: No server there. Start it.\n" in few.err
    assert rows(few.out, "jit: answered by away")["all"] == ["2", "–", "–", "–", "2"]
    found = json.loads((tmp_path / "out.json").read_text())["answered"]["jit"]["all"]
    assert (found["answered"], found["failed"], found["f1"]) == (0, 2, None)

    three = "--modes", "full,recency,jit"
    stopped = asked(jitchat, data, "--answerer", "away", "--yes", *three)
    assert stopped.code == 1
    assert "5 requests in a row failed; the last: No server there. Start it." in stopped.err


def test_the_reason_of_a_failure_is_one_line(
    jitchat: Shell, data: Path, models: dict[str, ScriptedProvider]
):
    class Refusing(ScriptedProvider):
        def stream(self, messages: Sequence[object], options: object):
            first = not self.requests
            self.script = [RequestRefused("No\x1b[31m\nmore.", "Wait.")] if first else ["Bo"]
            return super().stream(messages, options)

    models["talker"] = Refusing([], model="talker")
    done = asked(jitchat, data, "--answerer", "talker", "--yes", "--parallel", "1")
    told = "1 request failed; run the command again to retry it. The first failure: "
    assert done.err.endswith(f"{told}No\x1b[31m more. Wait.\n")


def test_ctrl_c_keeps_the_answers_received_and_says_so(
    jitchat: Shell, data: Path, tmp_path: Path, models: dict[str, ScriptedProvider]
):
    class Pressed(ScriptedProvider):
        def stream(self, messages: Sequence[object], options: object):
            if len(self.requests) == 1:
                raise KeyboardInterrupt
            return super().stream(messages, options)

    models["talker"] = Pressed(["Bo", Finished("stop")], model="talker")
    path = tmp_path / "kept.jsonl"
    arguments = ("--answerer", "talker", "--yes", "--answers", path, "--parallel", "1")
    done = asked(jitchat, data, *arguments)
    assert done.code == 130
    assert f"Stopped. Replies so far are in {path}; to resume, run the command again." in done.err
    assert len(path.read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--judge", "weigher"), "--judge requires --answerer"),
        (("--answerer", "talker", "--judge", "reader"), "the reader only quotes and cannot judge"),
        (("--answerer", ""), "No model is set"),
        (("--answerer", "talker", "--parallel", "0"), "--parallel"),
        (("--answerer", "talker", "--answers", "/dev/null/a"), "cannot be saved in"),
        (
            ("--answerer", "talker", "--limit", "4096", "--modes", "full"),
            "No question fits 4,096 tokens in full",
        ),
    ],
)
def test_invalid_options_end_with_an_error_and_send_nothing(
    jitchat: Shell,
    data: Path,
    models: dict[str, ScriptedProvider],
    arguments: tuple[str, ...],
    told: str,
):
    done = asked(jitchat, data, *arguments)
    assert done.code in (1, 2)
    assert told in done.err
    assert all(not provider.requests for provider in models.values())


def test_no_key_and_no_login_reaches_the_disk(
    jitchat: Shell,
    data: Path,
    tmp_path: Path,
    models: dict[str, ScriptedProvider],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-77")
    address = "https://ann:secret-88@models.test/v1"
    named = ("--yes", "--base-url", address, "--json", tmp_path / "out.json")
    assert asked(jitchat, data, "--answerer", "talker", *named).code == 0
    for name in ("out.json", "out.answers.jsonl"):
        kept = (tmp_path / name).read_text()
        assert "https://models.test/v1" in kept
        assert "canary" not in kept
        assert "secret-88" not in kept


@pytest.mark.parametrize(
    ("flags", "model", "answers"),
    [
        ({}, "gpt", ("openai", "gpt")),
        ({}, "groq/llama", ("groq", "llama")),
        ({"provider.name": "groq"}, "llama", ("groq", "llama")),
        ({"provider.name": "reader"}, "gpt", ("openai", "gpt")),
        ({"provider.name": "groq"}, "reader", ("reader", "reader")),
        ({}, "local", ("local", "smollm2")),
        ({"provider.name": "groq"}, "local/smollm2", ("local", "smollm2")),
        ({}, "local//models/own.gguf", ("local", "/models/own.gguf")),
    ],
)
def test_a_benchmarks_answerer_is_a_model_of_the_provider_that_is_configured(
    flags: dict[str, object], model: str, answers: tuple[str, str]
):
    profile = with_model(Flags(given=flags), model).settings().in_use()

    assert (profile.name, profile.model) == answers
