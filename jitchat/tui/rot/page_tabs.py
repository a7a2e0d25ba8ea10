"""Which of several panes is shown where there is room for one: names in a line, to click on."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widgets import Static


class PageTabs(Static):
    """Names of panes; one is on."""

    names: reactive[tuple[str, ...]] = reactive(())
    page: reactive[str] = reactive("")
    """The one that is on."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(id="lab-tabs")
        self.set_reactive(PageTabs.names, names)
        self.set_reactive(PageTabs.page, names[0])

    def render(self) -> Content:
        """Draw them in a line."""
        parts: list[tuple[str, Style | str]] = []
        for name in self.names:
            click = Style.from_meta({"@click": f"screen.page('{name}')"})
            look = Style.parse("bold reverse") if name == self.page else Style()
            parts += [(f" {name} ", click + look), (" ", "")]
        return Content.assemble(*parts)

    @property
    def after(self) -> str:
        """The one behind it; behind the last comes the first."""
        return self.names[(self.names.index(self.page) + 1) % len(self.names)]
