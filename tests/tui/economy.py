"""What an app under test need not do, since nobody sees it: three quarters of what it would cost.

Layout, messages and styles are Textual's own throughout; only work whose outcome is thrown away
is left out. A test that looks at every frame asks for the fixture `every_frame`.
"""

from __future__ import annotations

import asyncio
from asyncio import FIRST_COMPLETED
from typing import TYPE_CHECKING, Any

from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.screen import Screen
from textual.widget import Widget

from jitchat.tui.chat import views

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest
    from textual.css.model import RuleSet
    from textual.dom import DOMNode
    from textual.events import ScreenResume
    from textual.geometry import Region, Size
    from textual.message_pump import MessagePump


async def drawn(pilot: Pilot[None]) -> str:
    """The screen as SVG, at rest: rows that are drawn can ask for more room."""
    screen, image = pilot.app.screen, ""
    while not image or screen._compositor._dirty_regions:
        image = pilot.app.export_screenshot(title=pilot.app.title, simplify=True)
        await pilot.pause()
    return image


_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


def parse_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse each style sheet once a process, not once an app."""
    parse = Stylesheet._parse_rules

    def parse_rules(sheet: Stylesheet, *arguments: Any, **named: Any) -> list[RuleSet]:
        variables = tuple(sheet._variables.items())
        key = (arguments, tuple(named.items()), variables)
        if key not in _parsed:
            _parsed[key] = parse(sheet, *arguments, **named)
        return _parsed[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parse_rules)


def refresh_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refresh each widget once it has all its new styles, not for each of them."""
    update_nodes = Stylesheet.update_nodes

    def updating(sheet: Stylesheet, nodes: Iterable[DOMNode], animate: bool = False) -> None:
        restyled: dict[Widget, bool] = {}

        def later(widget: Widget, *regions: Region, layout: bool = False, **named: bool) -> Widget:
            restyled[widget] = restyled.get(widget, False) or layout
            return widget

        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(Widget, "refresh", later)
            update_nodes(sheet, nodes, animate)
        for widget, is_laid_out in restyled.items():
            widget.refresh(layout=is_laid_out)

    monkeypatch.setattr(Stylesheet, "update_nodes", updating)


def style_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Style what is on a screen when it is mounted, not again when it is first shown."""
    resume = Screen._on_screen_resume

    def resuming(screen: Screen[Any], event: ScreenResume) -> None:
        if screen.is_attached and not screen.stack_updates:
            event.refresh_styles = False
            screen.app.stylesheet.apply(screen)
        resume(screen, event)

    monkeypatch.setattr(Screen, "_on_screen_resume", resuming)


def lay_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not lay all out again for the size within a widget that gets no scrollbar by it.

    Textual does so after every change, and comes to the same layout.
    """
    size_updated = Widget._size_updated

    def updating(
        widget: Widget, size: Size, virtual: Size, container: Size, layout: bool = True
    ) -> bool:
        has_scrollbar = "auto" in (widget.styles.overflow_x, widget.styles.overflow_y)
        return size_updated(widget, size, virtual, container, layout and has_scrollbar)

    monkeypatch.setattr(Widget, "_size_updated", updating)


def draw_when_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw when a test looks at the screen, which it does through the compositor.

    Without a terminal Textual draws each frame too, and drops it.
    """
    draw = Screen._compositor_refresh

    def later(screen: Screen[Any]) -> None:
        if screen.is_current:
            screen._dirty_widgets.clear()  # the compositor knows of them
            screen.app._update_mouse_over(screen)
        else:
            draw(screen)

    monkeypatch.setattr(Screen, "_compositor_refresh", later)


def wait_for_those_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the widgets that have something to do, not for an answer of every one."""
    monkeypatch.setattr(Pilot, "_wait_for_screen", _wait_for_screen)


def load_no_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load a view when it is opened, not all of them a second after the start."""
    monkeypatch.setattr(views, "PREPARE_AFTER", 3_600.0)


async def _wait_for_screen(pilot: Pilot[Any]) -> bool:
    """As Textual's own. False if the app failed meanwhile."""
    app = pilot.app
    if not app.screen_stack:
        return False
    pumps = (app, *app.screen.walk_children(with_self=True))
    worked = asyncio.gather(*(_worked(pump) for pump in pumps if not _rests(pump)))
    failed = asyncio.ensure_future(app._exception_event.wait())
    both = {worked, failed}
    done, pending = await asyncio.wait(both, timeout=30.0, return_when=FIRST_COMPLETED)
    for each in pending:
        each.cancel()
    if not done:
        raise WaitForScreenTimeout("Timed out while waiting for widgets to process messages.")
    return worked in done


def _rests(pump: MessagePump) -> bool:
    """Whether it has done all that it was told, and waits to be told more."""
    ready = pump._message_queue.ready_event
    return bool(ready._waiters) and not ready.is_set()


async def _worked(pump: MessagePump) -> None:
    """Return once it has done what it was told before."""
    done = asyncio.Event()
    if pump.call_later(done.set):
        await done.wait()
