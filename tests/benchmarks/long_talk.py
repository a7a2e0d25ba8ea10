"""What length costs: `python -m tests.benchmarks.long_talk`.

The real app on conversations of 100 and of 100,000 turns (`--turns`): the time until the last
turns are on screen and until a message can be sent, a page of scrolling, how far back many pages
lead, and the memory that the later ones of them add.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.live_preview import store_talk
from tests.benchmarks.streaming_screen import show
from tests.benchmarks.terminal import Terminal

SHORT = 100
STARTS = 5
FIRST_PAGES = 150
"""Until as many turns are mounted as ever are, and what is drawn often is cached."""
PAGES = 300


@dataclass(frozen=True, slots=True)
class Opened:
    """Seconds, and megabytes."""

    shown: float
    """From the start of the process to its last turns on screen."""
    ready: float
    """To the next window on screen."""


@dataclass(frozen=True, slots=True)
class Scrolled:
    """What many pages back come to."""

    grown: float
    """Megabytes more."""
    wait: float
    """Seconds from a key to what it shows, the median."""
    turns: int
    """From the last turn to the first that came on screen."""


def open_talk(folder: Path, turns: int) -> tuple[Opened, Terminal]:
    """Start the app on the conversation of a folder."""
    environ = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    command = [sys.executable, "-m", "tests.benchmarks.live_preview", "--app", str(folder)]
    terminal = Terminal(command, environ, rows=36)
    shown = terminal.wait_for(f"#{turns} ")
    return Opened(shown, shown + terminal.wait_for("reserve 2,048")), terminal


def measure(folder: Path, turns: int) -> Opened:
    """Open it several times; the medians."""
    times = []
    for _ in range(STARTS):
        opened, terminal = open_talk(folder, turns)
        times.append(opened)
        terminal.stop()
    return Opened(
        statistics.median(each.shown for each in times),
        statistics.median(each.ready for each in times),
    )


def page_back(terminal: Terminal) -> float:
    """Seconds until something is drawn."""
    terminal.type("\x1b[5~")
    wait = terminal.until_drawn()
    terminal.drain(0.02)
    return wait


def scroll(folder: Path, turns: int) -> Scrolled:
    """Page up many times."""
    _, terminal = open_talk(folder, turns)
    terminal.drain(3)
    for _ in range(FIRST_PAGES):
        page_back(terminal)
    before, waits, first = terminal.resident_megabytes(), [], turns
    for _ in range(PAGES):
        waits.append(page_back(terminal))
        first = min([first, *map(int, re.findall(rb"#(\d+) ", terminal.seen))])
    grown = terminal.resident_megabytes() - before
    terminal.stop()
    return Scrolled(grown, statistics.median(waits), turns - first)


def main() -> None:
    """Compare a short and a long conversation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--long", type=Path, help="a folder in which the long one is kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        short, long = Path(name) / "short", given.long or Path(name) / "long"
        for folder, turns in ((short, SHORT), (long, given.turns)):
            folder.mkdir(exist_ok=True)
            if not (folder / "cold.db").exists():
                store_talk(folder, turns)
        few, many = measure(short, SHORT), measure(long, given.turns)
        told = f"{many.shown / few.shown:.2f} × {few.shown:.2f} s"
        show(f"last turns on screen, {given.turns:,} to {SHORT} turns", told, "≤ 1.5 ×")
        told = f"{many.ready / few.ready:.2f} × {few.ready:.2f} s"
        show("next window on screen", told, "-")
        far = scroll(long, given.turns)
        show(f"memory after {PAGES} pages more", f"{far.grown:+.1f} MB", "about 0")
        show("a page on screen, p50", f"{far.wait * 1000:.0f} ms", "≤ 50")
        show(f"turns back by {FIRST_PAGES + PAGES} pages", f"{far.turns:,}", f"≥ {PAGES}")


if __name__ == "__main__":
    main()
