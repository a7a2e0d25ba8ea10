"""Every figure on a screen is found in the object that it is of, by its label and with its mark.

The screens are read as they are drawn. A figure with a mark, an amount of money, or a number with a
label that is not in the object fails, and so does a figure that lost its end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import pytest
from textual.geometry import Size
from textual.widgets import Static

from jitchat.replay import Replay, window_of
from jitchat.savings import savings
from jitchat.session_options import SessionOptions
from jitchat.text.figures import about_cost, dollars, percent
from jitchat.tui.dialogs.exact import ExactScreen
from jitchat.tui.views.history import HistoryView
from jitchat.tui.views.ledger import LedgerView
from jitchat.tui.views.sent_windows import SentWindowsView
from jitchat.tui.views.what_if import WhatIfView
from jitchat.tui.widgets.budget_bar import SIGNS
from jitchat.values import Mode
from jitchat.window.calibration import Calibration
from jitchat.window.compare import align
from jitchat.window.window import ContextWindow, Kind
from tests.tui.support import SMALL, TestBackend, demo_app, ready, type_text, until
from tests.tui.test_screens import QUESTION
from tests.tui.views.archived_sends import PRICES, send_all
from tests.window.reports import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.app import App
    from textual.pilot import Pilot

    from jitchat.session import Session
    from jitchat.store.windows import Send
    from jitchat.text.figures import Figure

SIZES = ((160, 48), (104, 32), (80, 24), (60, 20), (50, 18), (40, 14))
SAMPLE = (SIZES[0], SIZES[-1])
FIGURE = r"~?\d[\d,]*(?: ± \d[\d,]*| ✓)?"
MARKED = re.compile(r"~\d[\d,]*(?![\d.,]| %)|\d[\d,]* ± \d[\d,]*|\d[\d,]* ✓")
MONEY = re.compile(r"[~<]?\$\d[\d,]*(?:\.\d+)?")
SHARE = re.compile(r"(?<![\d.,<>])[<>]?\d+(?:\.\d)? %")
BROKEN = re.compile(r"[~$]\d?[\d,.]*…|\d ±\s*…")


@dataclass
class Sources:
    """What the figures on a screen can be of."""

    figures: set[str] = field(default_factory=set)
    amounts: set[str] = field(default_factory=set)
    shares: set[str] = field(default_factory=set)
    labelled: dict[str, set[str]] = field(default_factory=dict)
    by_turns: dict[str, set[str]] = field(default_factory=dict)
    """By the turns of a row, as they are shown: its figures."""

    def add(self, window: ContextWindow, session: Session) -> None:
        sizes = {kind: window.tokens_of(kind) for kind in Kind}
        recent = [each.tokens for each in window.segments if each.kind is Kind.RECENT]
        rows = (*window.ledger, *window.others)
        parts = {
            *(each.tokens for each in window.segments),
            *(each.tokens for each in rows),
            *sizes.values(),
            *accumulate(recent),
            *(window.stable_tokens, window.free, window.full_tokens),
            *([window.never_candidates.tokens] if window.never_candidates else []),
            sum(each.tokens for each in window.others_of(Kind.TOOLS)),
        }
        self.figures |= {str(window.figure(part)) for part in parts} | {str(window.used_figure)}
        for row in (*rows, *window.segments):  # those of a room are tested where rooms are
            self.figures |= set(MARKED.findall(row.reason))
        for kind, size in sizes.items():
            for name in (kind.value, SIGNS[kind].short):
                self.label(name, window.figure(size))
        self.label("free", window.figure(window.free))
        self.label("full would be", window.figure(window.full_tokens))
        self.label("stable prefix", window.figure(window.stable_tokens))
        for name in ("reserve", "rsv"):
            self.labelled.setdefault(name, set()).add(f"{window.budget.reserve:,}")
        self.shares |= {
            percent(window.stable_tokens / window.used),
            percent(1 - window.saving),
            percent(window.saving),
            percent(window.used / window.budget.limit),
        }
        self.add_amounts(session.comparison(window))

    def add_amounts(self, compared: object) -> None:
        amounts = [getattr(compared, name) for name in ("amount", "of_full")]
        self.amounts |= {about_cost(amount) for amount in amounts}
        self.figures |= {f"~{usage.cached_tokens:,}" for usage in (compared.sent, compared.full)}  # type: ignore[attr-defined]

    def label(self, name: str, figure: Figure) -> None:
        self.labelled.setdefault(name, set()).add(str(figure))

    def faults(self, lines: Iterable[str]) -> list[str]:
        """List what has no source, each with its line."""
        known = self.figures | self.amounts | self.shares
        found = [
            (figure, line)
            for line in lines
            for pattern in (MARKED, MONEY, SHARE)
            for figure in pattern.findall(line)
            if figure not in known
        ]
        found += [(figure, line) for line in lines for figure in self._of_others(line)]
        found += [(figure, line) for line in lines for figure in BROKEN.findall(line)]
        return [f"{figure} in {line.strip()!r}" for figure, line in found]

    def _of_others(self, line: str) -> list[str]:
        """List the figures that are not those of their labels."""
        return [
            f"{name} {figure}"
            for name, known in self.labelled.items()
            for figure in re.findall(rf"(?<!\w){re.escape(name)} ({FIGURE})(?![\d,.]| %)", line)
            if figure not in self._of_row(line) | known
        ]

    def _of_row(self, line: str) -> set[str]:
        """Return the figures of the turns that a line begins with."""
        found = re.match(r"▸?(#\d+(?:…#\d+)?) ", line.strip())
        return self.by_turns.get(found[1], set()) if found else set()


def lines_of(app: App[None]) -> list[str]:
    """Read the screen as it is drawn, without what was said in the conversation."""
    screen = app.screen
    strips = screen._compositor.render_strips(Size(*screen.size))
    lines = ["".join(segment.text for segment in strip) for strip in strips]
    panes = [re.split(r"[▌▏│┃]", line)[-2:] for line in lines]
    return [pane for split in panes for pane in split if "“" not in pane]


async def check(pilot: Pilot[None], sources: Sources, what: str) -> None:
    await pilot.pause()
    faults = sources.faults(lines_of(pilot.app))
    assert not faults, f"{what} at {pilot.app.size}:\n" + "\n".join(faults)


def sources_of(session: Session) -> Sources:
    sources = Sources()
    planned = session.compare(QUESTION)[1]
    windows = {mode: each for mode, each in planned.items() if isinstance(each, ContextWindow)}
    for window in windows.values():
        sources.add(window, session)
    for row in align(windows.values()):
        first, last = row.turns[0], row.turns[-1]
        name = f"#{first}" if first == last else f"#{first}…#{last}"
        of_row = sources.by_turns.setdefault(name, set())
        of_row |= {str(windows[mode].figure(each.tokens)) for mode, each in row.shares.items()}
        sources.figures |= of_row
    return sources


def history_sources(session: Session, view: HistoryView) -> Sources:
    """The sums of the sends up to the chosen one, and its own figures."""
    history, row = view.history, view.table.row
    assert history is not None
    assert row is not None
    sources = Sources()
    totals = savings(history.sends, lambda _, usage: session.cost_of(usage))
    total = totals[row.number - 1]
    assert total == history.totals[row.number - 1]
    counts = [total.sent, total.full, abs(total.saved)]
    for send in history.sends:
        counts += [send.used, send.full_tokens, send.free, *send.sizes.values()]
    sources.figures |= {f"~{count:,}" for count in (*counts, total.money.cached)}
    usage = row.send.usage
    assert usage is not None
    sources.figures |= {f"{usage.input_tokens:,} ✓", f"{usage.output_tokens:,} ✓"}
    money, paid = total.money, row.send.cost
    sources.amounts |= {dollars(money.sent), about_cost(money.full), about_cost(money.saved)}
    sources.amounts.add(dollars(paid))
    sources.shares |= {percent(total.saved / total.full), percent(money.saved / money.full)}
    sources.labelled["full would be"] = {f"~{row.send.full_tokens:,}"}
    return sources


def sent_sources(session: Session, sends: Sequence[Send]) -> Sources:
    """The figures of all sends, and of the window of the last one."""
    sources = Sources()
    send = sends[-1]
    sources.add(window_of(session.memory.store.database, send.window_id), session)
    sources.figures |= {f"~{count:,}" for each in sends for count in (each.used, each.full_tokens)}
    assert send.usage is not None
    sources.figures |= {f"{send.usage.input_tokens:,} ✓", f"{send.usage.output_tokens:,} ✓"}
    sources.figures.add(f"{send.usage.cached_tokens:,} ✓")
    sources.amounts.add(dollars(send.cost))
    return sources


def cost_sources(session: Session, shown: Sources) -> Sources:
    """The forecast of the next message, and what the accounts say; the chat is still behind it."""
    forecast = session.forecast(session.preview(QUESTION, Mode.JIT))
    amounts = {about_cost(forecast.amount), *(dollars(a.spent.amount) for a in forecast.accounts)}
    figures = {f"~{forecast.usage.output_tokens:,}"}
    return replace(shown, figures=shown.figures | figures, amounts=shown.amounts | amounts)


LEARNT: dict[str, Calibration | None] = {
    "estimated": None,
    "corrected": Calibration.of(Server(noise=0.01).samples(20)),
}


MOST = [pytest.param(size, marks=pytest.mark.long) for size in SIZES if size not in SAMPLE]


@pytest.mark.parametrize("learnt", LEARNT)
@pytest.mark.parametrize("size", [*SAMPLE, *MOST])
async def test_every_figure_of_the_views_has_its_source(
    backend: TestBackend, size: tuple[int, int], learnt: str
) -> None:
    backend.options = SessionOptions(budget=SMALL, prices=PRICES)
    app = demo_app(backend)
    async with app.run_test(size=size) as pilot:
        screen = await ready(pilot)
        session = screen.session
        assert session
        send_all(session)
        sends = Replay(session.memory.store, session.memory.conversation.id).sends()
        calibration = LEARNT[learnt]
        if calibration is not None:
            session._meter.calibration = calibration
        await type_text(pilot, QUESTION)
        sources = sources_of(session)
        await check(pilot, sources, "the chat")
        screen.meter.show_costs(session)
        await until(pilot, lambda: isinstance(app.screen, ExactScreen), "the costs")
        await check(pilot, cost_sources(session, sources), "the costs")
        await pilot.press("escape")
        for key, view, is_there in VIEWS:
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, view) and is_there(app.screen), key)  # noqa: B023  at once
            await pilot.pause()
            known = sources
            if isinstance(app.screen, HistoryView):
                known = history_sources(session, app.screen)
            if isinstance(app.screen, SentWindowsView):
                known = sent_sources(session, sends)
            await check(pilot, known, view.NAME)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is screen, "the chat")


def is_complete(view: SentWindowsView) -> bool:
    return "jit" in str(view.query_one("#send-summary", Static).content)


VIEWS: tuple[tuple[str, type, Callable[..., object]], ...] = (
    ("alt+h", HistoryView, lambda view: view.history),
    ("f4", LedgerView, lambda view: view.table.rows),
    ("f9", SentWindowsView, is_complete),
    ("f7", WhatIfView, lambda view: view._sides.comparison),
)
