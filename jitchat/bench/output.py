"""Shared by the results of all measurements: settings, and plain tables."""

import re
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from jitchat.settings import Settings
from jitchat.text.sanitize import for_terminal

_LOGIN = re.compile(r"(?<=//)[^/]*@")


def settings_fields(settings: Settings) -> dict[str, str]:
    """Return every setting as a TOML value, without secrets."""
    return {name: without_login(value) for name, value, _ in settings.rows()}


def without_login(address: str) -> str:
    """Remove the user name and password from an address."""
    return _LOGIN.sub("", address)


def plain_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *notes: str, gap: int = 1
) -> Table:
    """Build a table with row names in the first column; `gap` is the padding after a cell."""
    made = Table(title=Text(for_terminal(title).cells), title_justify="left", box=SIMPLE_HEAD)
    made.padding = (0, gap, 0, 0)
    if notes:
        made.caption, made.caption_justify = Text(for_terminal("\n".join(notes)).cells), "left"
    for at, name in enumerate(columns):
        made.add_column(name, justify="right" if at else "left")
    for row in rows:
        made.add_row(*(Text(for_terminal(cell).cells) for cell in row))
    return made
