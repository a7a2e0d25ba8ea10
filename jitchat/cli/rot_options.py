"""Options of `jitchat rot`: the grid of a run, how its cells are asked, and files for figures."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import click

from jitchat.cli import output
from jitchat.cli.options import count_option, known_name, names_of, option
from jitchat.errors import UsageError
from jitchat.lab import report, stats
from jitchat.lab.experiment import PRESETS, Experiment, Result, preset
from jitchat.lab.facts import MOST_NEAR, USUAL_KINDS, Kind
from jitchat.lab.filler import Talk
from jitchat.lab.run_file import Run
from jitchat.text.figures import enumerated
from jitchat.text.sanitize import shorten
from jitchat.values import USUAL_MODES, Mode

USUAL = "quick"
"""The default preset."""
SHORTEST, LONGEST = 500, 10_000_000
"""Limits of a conversation's length in tokens: the least with room for a fact and filler, and more
than any model's context."""
_LENGTH = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(k?)", re.IGNORECASE)
_DEPTH = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,4})?) ?%?")
_SHARE = re.compile(r"[01](?:\.[0-9]{1,6})?|\.[0-9]{1,6}")
_QUOTED = 60
"""Maximum characters of a value quoted in an error."""
_Number = TypeVar("_Number", int, float)


def lengths_of(text: str) -> tuple[int, ...]:
    """Parse lengths in tokens: `1k,2k,8000`."""
    return _ascending("--lengths", text, _length)


def depths_of(text: str) -> tuple[float, ...]:
    """Parse depths in percent: `0,50,100`; return fractions."""
    return _ascending("--depths", text, _depth)


def near_of(text: str) -> tuple[int, ...]:
    """Parse numbers of near-duplicates: `0,2,6,12`."""
    return _ascending("--near", text, _near)


def threshold_of(text: str) -> tuple[str, float]:
    """Parse a mode and a share: `jit=0.9`."""
    mode, _, share = (piece.strip() for piece in text.partition("="))
    if not _SHARE.fullmatch(share) or float(share) > 1:
        raise UsageError(
            f"--fail-under: {shorten(text, _QUOTED)!r} is not MODE=SHARE with a share from 0 to 1.",
            "Write it as jit=0.9.",
        )
    return known_name("--fail-under", mode, list(Mode)), float(share)


def _not_valid(flag: str, given: str, what: str, advice: str) -> UsageError:
    return UsageError(f"{flag}: {shorten(given, _QUOTED)!r} is not a valid {what}.", advice)


def _length(piece: str) -> int:
    read = _LENGTH.fullmatch(piece)
    tokens = float(read[1]) * (1_000 if read[2] else 1) if read else 0.0
    if not 1 <= tokens <= LONGEST or tokens != int(tokens):
        advice = f"Give whole numbers from {SHORTEST:,} to {LONGEST:,}; k is 1,000: 1k,2k,8k."
        raise _not_valid("--lengths", piece, "number of tokens", advice)
    if tokens < SHORTEST:
        raise UsageError(
            f"--lengths: {shorten(piece, _QUOTED)} is too short to plant facts in.",
            f"The shortest length is {SHORTEST:,} tokens.",
        )
    return int(tokens)


def _depth(piece: str) -> float:
    read = _DEPTH.fullmatch(piece)
    percent = float(read[1]) if read else -1.0
    if not 0 <= percent <= 100:
        advice = "Give percentages from 0, the beginning, to 100, the end: 0,50,100."
        raise _not_valid("--depths", piece, "depth", advice)
    return round(percent / 100, 6)


def _near(piece: str) -> int:
    if not piece.isdecimal() or len(piece) > 2 or int(piece) > MOST_NEAR:
        advice = f"Give whole numbers from 0 to {MOST_NEAR}: 0,2,6,12."
        raise _not_valid("--near", piece, "number of near-duplicates", advice)
    return int(piece)


def _ascending(flag: str, text: str, read: Callable[[str], _Number]) -> tuple[_Number, ...]:
    numbers = tuple(read(piece.strip()) for piece in text.split(","))
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        raise UsageError(
            f"{flag}: {shorten(text, _QUOTED)} is not in ascending order.",
            "Give each value once, smallest first.",
        )
    return numbers


_STDOUT = Path("-")
"""Standard output in place of a file; the tables are then not printed."""
_file = partial(option, placeholder="OUT", type=click.Path(path_type=Path))


@dataclass(frozen=True, slots=True)
class RotFiles:
    """The files to write, by format; None for a format without a file."""

    json: Path | None = _file(  # noqa: RUF009  it makes a field
        "Write the run to OUT as JSON, with every cell and setting (- for standard output)."
    )
    html: Path | None = _file(  # noqa: RUF009  see json
        "Write a page with the heat maps, the curve and the tables to OUT as HTML."
    )

    def named(self) -> list[tuple[str, Path]]:
        return [(name, path) for name, path in asdict(self).items() if path is not None]

    def require_writable(self) -> None:
        named = self.named()
        for _, path in named:
            if path != _STDOUT:
                output.require_writable(path)
        if len({path.absolute() for _, path in named}) < len(named):
            options = " and ".join(f"--{name}" for name, _ in named)
            raise UsageError(f"{options}: two of them name the same file.", "Choose another name.")

    def print_run(self, run: Run, results: Sequence[Result]) -> stats.Tallies:
        """Print the tables of a run and write the files. Return the tallies in the tables."""
        tallies, named = stats.count_results(results), self.named()
        if all(path != _STDOUT for _, path in named):
            output.print_tables(report.tables(run, tallies))
        for name, path in named:
            content = report.exported(name, run, results)
            if path == _STDOUT:
                output.say(content.decode(), newline=False)
            else:
                output.write_file(path, content)
        return tallies


_OF_RESUMED = {"parallel", "resume", "fail_under", "yes", "headless"}
"""The options that a run which is resumed does not have already."""


@dataclass(frozen=True, slots=True)
class RotFlags:
    """The options of `jitchat rot`; None if not given."""

    preset: str | None = option(
        f"Preset of the grid: {USUAL}, standard or deep (default: {USUAL}).", "NAME"
    )
    lengths: tuple[int, ...] | None = option(
        "Lengths of the conversation in tokens, ascending, at least 500: 1k,2k,8k.",
        "LIST",
        type=lengths_of,
    )
    depths: tuple[float, ...] | None = option(
        "Positions of the facts in percent: 0,50,100.", "LIST", type=depths_of
    )
    kinds: tuple[Kind, ...] | None = option(
        f"Kinds of question: {', '.join(USUAL_KINDS)} (asked by default),"
        f" {enumerated([kind for kind in Kind if kind not in USUAL_KINDS])}.",
        "LIST",
        type=lambda text: names_of("--kinds", text, Kind),
    )
    modes: tuple[Mode, ...] | None = option(
        f"Modes to measure, of {', '.join(Mode)} (default: {','.join(USUAL_MODES)}).",
        "LIST",
        type=lambda text: names_of("--modes", text, Mode),
    )
    near: tuple[int, ...] | None = option(
        "Near-duplicates per fact, 0 to 12: the same statement about others, with different"
        " values (default: depends on the kind of question).",
        "LIST",
        type=near_of,
    )
    repeats: int | None = count_option(
        "Ask each cell N times, each time for a different fact.", most=100
    )
    seed: int | None = option(
        "Random seed; a different seed gives different facts and conversations.", "N", type=int
    )
    conversation: str | None = option(
        "Plant the facts in a copy of this conversation instead of generated filler.", "ID"
    )
    talk: Talk | None = option(  # noqa: RUF009  it makes a field
        "Kind of generated filler: chat, with short turns, or long, with long answers and code"
        " (default: chat).",
        "NAME",
        type=lambda text: Talk(known_name("--talk", text, list(Talk))),
    )
    judge: str | None = option(
        "Model of the same provider that judges answers which no rule finds right; with the"
        " reader, PROVIDER/MODEL.",
        "MODEL",
    )
    max_answer: int | None = count_option(
        "Maximum tokens of an answer, instead of `answer` under [lab]; max_tokens in the settings"
        " takes precedence.",
        most=100_000,
    )
    parallel: int = count_option(
        "Number of concurrent requests; 1 keeps prompt caches warm and timings accurate.",
        most=64,
        default=1,
    )
    resume: str | None = option("Resume a run that was stopped, by its id, or `last`.", "RUN")
    fail_under: tuple[tuple[str, float], ...] = option(
        "Exit with 1 if a smaller share of a mode's cells is right, as in jit=0.9 (repeatable)."
        " Cells that do not fit or that failed count as not right.",
        "MODE=SHARE",
        type=threshold_of,
        multiple=True,
    )
    yes: bool = option("Send without asking to confirm the cost.")
    headless: bool = option("Run without opening the app.")

    def require_alone(self, command: str, files: RotFiles) -> None:
        """Refuse options of a run that are given to a command which starts none."""
        given = [*self._given({"parallel"}), *(name for name, _ in files.named())]
        if given:
            verb = "is" if len(given) == 1 else "are"
            raise UsageError(
                f"{_options(given)} {verb} not for `{command}`.",
                "Use `jitchat rot` to start a run.",
            )

    def _given(self, without: Collection[str]) -> list[str]:
        """List the names of the options that were given, except those in `without`."""
        return [
            name
            for name, value in asdict(self).items()
            if name not in without and value is not None and value is not False and value != ()
        ]

    def require_consistent(self) -> None:
        given = self._given(_OF_RESUMED)
        if self.resume is not None and given:
            raise UsageError(
                f"--resume keeps the run's own options, so {_options(given)} cannot be changed.",
                f"Omit --resume or {_options(given)}.",
            )

    def experiment(self, provider: str) -> Experiment:
        name = known_name("--preset", self.preset or USUAL, PRESETS)
        if self.talk is not None and self.conversation is not None:
            raise UsageError(
                "--talk chooses generated filler, but --conversation replaces it with yours.",
                "Omit --talk or --conversation.",
            )
        names = {field.name for field in fields(Experiment)} - {"preset"}
        given = {name: getattr(self, name) for name in self._given(()) if name in names}
        if given.keys() - {"seed"}:
            given["preset"] = "own"
        return replace(preset(name, provider), **given)

    def thresholds(self) -> Mapping[str, float]:
        """Return the shares of `--fail-under`, by mode."""
        thresholds = dict(self.fail_under)
        if len(thresholds) < len(self.fail_under):
            raise UsageError("--fail-under names a mode twice.", "Give one share for each.")
        return thresholds


def _options(names: list[str]) -> str:
    return enumerated([f"--{name.replace('_', '-')}" for name in names])
