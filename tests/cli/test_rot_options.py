"""Options of `jitchat rot`: the grid they produce, and what is refused."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import click
import pytest

from jitchat.cli import rot as command
from jitchat.cli.rot_options import (
    depths_of,
    lengths_of,
    names_of,
    near_of,
    threshold_of,
)
from jitchat.errors import UsageError
from jitchat.lab.experiment import Experiment, RunWanted, preset
from jitchat.lab.facts import Kind
from jitchat.values import Mode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("1k,2k,8k", (1_000, 2_000, 8_000)),
        ("500", (500,)),
        (" 500 , 1.5K,2000 ", (500, 1_500, 2_000)),
        ("500,10000k", (500, 10_000_000)),
    ],
)
def test_lengths_are_tokens_and_k_is_a_thousand(text: str, lengths: tuple[int, ...]):
    assert lengths_of(text) == lengths


@pytest.mark.parametrize(
    ("text", "depths"),
    [("0,50,100", (0.0, 0.5, 1.0)), ("33.3%, 90 %", (0.333, 0.9)), ("100", (1.0,))],
)
def test_depths_are_percents(text: str, depths: tuple[float, ...]):
    assert depths_of(text) == depths


def test_names_are_read_once_in_the_given_order():
    assert names_of("--modes", "jit, full,jit", Mode) == (Mode.JIT, Mode.FULL)
    assert names_of("--kinds", "exact", Kind) == (Kind.EXACT,)
    assert threshold_of(" jit = .9 ") == ("jit", 0.9)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--preset", "quik"],
            "--preset cannot be 'quik'. Use quick, standard or deep. Did you mean 'quick'?",
        ),
        (
            ["--kinds", "direct,parafrased"],
            "--kinds cannot be 'parafrased'. Use direct, paraphrased, updated, distracted, exact,"
            " counting, absent, corrected, instruction, superseded or deleted."
            " Did you mean 'paraphrased'?",
        ),
        (
            ["--modes", "jitt"],
            "--modes cannot be 'jitt'. Use full, recency, jit, observe or document."
            " Did you mean 'jit'?",
        ),
        (["--modes", ""], "--modes cannot be ''. Use full, recency, jit, observe or document."),
        (["--talk", "chatt"], "--talk cannot be 'chatt'. Use chat or long. Did you mean 'chat'?"),
        (
            ["--fail-under", "jitt=1"],
            "--fail-under cannot be 'jitt'. Use full, recency, jit, observe or document."
            " Did you mean 'jit'?",
        ),
        *(
            (
                ["--lengths", text],
                f"--lengths: {wrong!r} is not a valid number of tokens. Give whole numbers from 500"
                " to 10,000,000; k is 1,000: 1k,2k,8k.",
            )
            for text, wrong in [
                ("1k,many", "many"),
                ("0", "0"),
                ("-5", "-5"),
                ("1k,", ""),
                ("1.5", "1.5"),
                ("nan", "nan"),
                ("99999999k", "99999999k"),
                ("9" * 5_000, f"{'9' * 59}…"),
            ]
        ),
        *(
            (
                ["--lengths", text],
                f"--lengths: {wrong} is too short to plant facts in. The shortest length is 500",
            )
            for text, wrong in [("1", "1"), ("499,1k", "499"), ("0.1k,1k", "0.1k")]
        ),
        *(
            (
                ["--lengths", text],
                f"--lengths: {text} is not in ascending order. Give each value once, smallest",
            )
            for text in ("8k,2k", "1k,1000")
        ),
        *(
            (
                ["--depths", text],
                f"--depths: {wrong!r} is not a valid depth. Give percentages from 0, the beginning,"
                " to 100, the end: 0,50,100.",
            )
            for text, wrong in [("0,101", "101"), ("-1", "-1"), ("deep", "deep"), ("nan", "nan")]
        ),
        (["--depths", "50,0"], "--depths: 50,0 is not in ascending order. Give each value once,"),
        *(
            (
                ["--fail-under", text],
                f"--fail-under: {text!r} is not MODE=SHARE with a share from 0 to 1. Write it as"
                " jit=0.9.",
            )
            for text in ("jit", "jit=", "jit=1.5", "jit=90%", "=0.5 ", "jit=nan", "0.9")
            if text != "=0.5 "
        ),
        (
            ["--fail-under", "=0.5"],
            "--fail-under cannot be ''. Use full, recency, jit, observe or document.",
        ),
        (["--fail-under", "jt=0.5"], "--fail-under cannot be 'jt'."),
        (
            ["--fail-under", "jit=0.5", "--fail-under", "jit=0.9"],
            "--fail-under names a mode twice. Give one share for each.",
        ),
        (
            ["--modes", "full,recency", "--fail-under", "jit=0.5"],
            "--fail-under names jit, which is not one of the run's modes. Its modes: full,"
            " recency.",
        ),
        (
            ["--resume", "last", "--lengths", "1k", "--fail-under", "jit=1", "--judge", "m"],
            "--resume keeps the run's own options, so --lengths and --judge cannot be changed.",
        ),
        (["--resume", "r7"], "There is no run 'r7'. There are no runs yet."),
        (
            ["--json", "same", "--html", "same"],
            "--json and --html: two of them name the same file.",
        ),
        (["--json", "nowhere/out"], "nowhere/out cannot be written: No such file or directory."),
        (["--html", "."], ". cannot be written: Is a directory. Choose another file."),
        (["--judge", "reader"], "--judge: the reader only quotes and cannot judge."),
        (
            ["--conversation", "none such"],
            "There is no conversation 'none such'. Import one, or start a chat.",
        ),
        (
            ["--seed", "2", "list"],
            "--seed is not for `jitchat rot list`. Use `jitchat rot` to start a run.",
        ),
        (
            ["--yes", "--html", "x", "--modes", "jit", "show", "r1"],
            "--modes, --yes and --html are not for `jitchat rot show`. Use `jitchat rot` to start a"
            " run.",
        ),
    ],
)
def test_an_impossible_grid_is_refused_before_anything_is_created(
    jitchat: Shell, arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    done = jitchat("rot", *arguments)

    assert done.code in (1, 2)
    assert done.out == ""
    assert done.err.startswith(f"jitchat: {told}")
    assert done.err.count("\n") == 1
    assert not (jitchat.home / "rot").exists()
    assert not (tmp_path / "same").exists()


@pytest.mark.parametrize("arguments", [["--repeats", "0"], ["--parallel", "0"], ["--seed", "x"]])
def test_an_invalid_number_is_reported_with_the_usage(jitchat: Shell, arguments: list[str]):
    done = jitchat("rot", *arguments)

    assert done.code == 2
    assert done.err.startswith("Usage: ")
    assert f"Invalid value for '{arguments[0]}'" in done.err


@pytest.mark.parametrize("name", list(command.rot_command.commands))
def test_each_command_for_runs_explains_itself(jitchat: Shell, name: str):
    text = jitchat("rot", name, "--help").out
    own = command.rot_command.commands[name]

    assert all(len(line) < 80 for line in text.splitlines())
    assert own.get_short_help_str(limit=70).endswith(".")
    assert all(each.help.endswith(".") for each in own.params if isinstance(each, click.Option))


class Opened:
    """Replaces the app; records what it was opened with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[RunWanted | None] = []
        fake = SimpleNamespace(run_chat=self.run_chat)
        monkeypatch.setitem(sys.modules, "jitchat.cli.chat", fake)
        monkeypatch.setattr(command.output, "is_terminal", lambda _: True)

    def run_chat(self, flags: object, rot: RunWanted | None) -> int:
        self.asked.append(rot)
        return 7


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], RunWanted(preset("quick", "reader"))),
        (["--model", "ollama/m"], RunWanted(preset("quick"))),
        (
            ["--preset", "deep", "--seed", "9", "--parallel", "4", "--judge", "openai/m"],
            RunWanted(
                replace(preset("deep", "reader"), seed=9),
                4,
                "openai/m",
            ),
        ),
        (
            [
                *("--lengths", "1k", "--depths", "50", "--kinds", "exact", "--modes", "jit"),
                *("--repeats", "2", "--conversation", "demo"),
            ],
            RunWanted(
                Experiment((1_000,), (0.5,), (Kind.EXACT,), (Mode.JIT,), 2, conversation="demo")
            ),
        ),
    ],
)
def test_in_a_terminal_the_app_opens_with_the_options(
    jitchat: Shell, arguments: list[str], asked: RunWanted, monkeypatch: pytest.MonkeyPatch
):
    opened = Opened(monkeypatch)

    assert jitchat("rot", *arguments).code == 7
    assert opened.asked == [asked]


@pytest.mark.parametrize("kind", ["json", "html", "resume"])
def test_options_that_request_figures_do_not_open_the_app(
    jitchat: Shell, kind: str, monkeypatch: pytest.MonkeyPatch
):
    opened = Opened(monkeypatch)
    done = jitchat("rot", f"--{kind}", "nowhere/out")

    assert "nowhere/out" in done.err
    assert (done.code, opened.asked) == (2 if kind == "resume" else 1, [])


def test_near_duplicates_are_numbers_from_0_to_12_in_ascending_order():
    assert near_of("0, 2,12") == (0, 2, 12)
    for wrong in ("13", "-1", "x", "2,1", "", "1.5", "²"):
        with pytest.raises(UsageError, match=r"^--near"):
            near_of(wrong)
