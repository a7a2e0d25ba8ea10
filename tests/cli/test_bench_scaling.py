"""`jitchat bench scaling`: tables, and figures with their conditions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from jitchat import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


def test_it_prints_tables_and_saves_every_figure_without_the_login(
    jitchat: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("JITCHAT_PROVIDER_BASE_URL", "https://ann:hunter2@llm.example/v1")
    monkeypatch.setenv("JITCHAT_PROVIDER_MODEL", "small-1")
    out = tmp_path / "out.json"
    done = jitchat(
        "bench", "scaling", "--turns", "20, 2,20", "--turn-length", "short,usual", "--json", out
    )
    assert done.code == 0, done.err
    heads = [line.split()[0] for line in done.out.splitlines() if line.strip()]
    assert [head for head in heads if head in ("2", "20")] == ["2", "20"] * 8
    assert "\x1b" not in done.out
    assert "Tokens sent (usual turns, lexical, estimate," in done.out

    found = json.loads(out.read_text())
    assert found["version"] == __version__
    assert found["settings"]["window.size"] == '"auto"'
    assert list(found["turn_lengths"]) == ["short", "usual"]
    small, large = found["turn_lengths"]["usual"]
    assert (small["turns"], large["turns"], large["needle"]) == (2, 20, 4)
    assert large["modes"]["jit"]["found"] == large["modes"]["full"]["found"] == found["phrasings"]
    assert large["full_tokens"] == large["modes"]["jit"]["tokens"] < 1_500
    assert large["prices"]["read .1, write 1.25"]["of_full"] == pytest.approx(1)
    assert (large["embedder"], large["counter"]) == ("lexical", "estimate")
    assert set(large["both_ms"]) == {"p50", "p95"}
    assert large["fts5_ms"] > 0
    assert "hunter2" not in out.read_text()
    assert "https://llm.example/v1" in out.read_text()


@pytest.mark.parametrize("turns", ["0", "-20", "20,x", "20,,40", "", "1.5"])
def test_an_invalid_number_of_turns_is_refused(jitchat: Shell, turns: str):
    done = jitchat("bench", "scaling", "--turns", turns)
    assert done.code == 2
    assert "is not a list of positive whole numbers, such as 20,40,80." in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--modes", "jit,none"), 2, "Use full, recency, jit, observe or document."),
        (("--turn-length", "huge"), 2, "Use chat, short, usual or long."),
        (("--embedder", "fastembed", "--embedder-path", "/nowhere"), 1, "cannot be loaded"),
        (("--json", "/nowhere/out.json"), 1, "cannot be written"),
    ],
)
def test_invalid_options_end_with_an_error(
    jitchat: Shell, arguments: tuple[str, ...], code: int, told: str
):
    done = jitchat("bench", "scaling", "--turns", "2", *arguments)
    assert done.code == code
    assert told in done.err


def test_a_limit_too_small_for_a_question_ends_with_an_error(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("JITCHAT_PROVIDER_LIMIT", "16")
    done = jitchat("bench", "scaling", "--turns", "2")
    assert done.code == 1
    assert "more than the budget of 12" in done.err
