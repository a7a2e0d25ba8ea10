"""Generate the lists in the documentation: `python -m tools.docs`.

A list is between `<!-- NAME -->` and `<!-- end -->` on a page of `docs/`: keys come from the
registry of actions, settings from their sections, commands from the command line.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from jitchat.cli import commands
from jitchat.settings.sections import NAMED, SECTIONS, Setting, settings_of, shown
from jitchat.tui.key_help import help_sections
from jitchat.tui.key_names import KeyNames

DOCS = Path(__file__).parents[1] / "docs"
_LONGEST = 200
"""Maximum characters of a command's help; click cuts off a longer one."""


def keys() -> Iterator[str]:
    yield from _head("key", "where", "what it does")
    for title, section in help_sections(KeyNames()):
        for pressed, meaning in section:
            row = _row(pressed, f"{title[0].lower()}{title[1:]}", meaning)
            yield row.replace("\\ Enter", "`\\` Enter")


def settings() -> Iterator[str]:
    tables = SECTIONS | {f"{section}.NAME": kind for section, kind in NAMED.items()}
    yield from _head("setting", "default", "what it is", "flag")
    for section, kind in tables.items():
        for setting in settings_of(kind, section).values():
            yield _row(f"`{setting.key}`", _default(setting), setting.help, _code(setting.flag))


def command_lines() -> Iterator[str]:
    yield from _head("command", "what it does")
    context = click.Context(commands)
    for name in commands.list_commands(context):
        command = commands.get_command(context, name)
        if command is not None:
            yield _row(f"`jitchat {name}`", command.get_short_help_str(_LONGEST))
            inner = command.commands if isinstance(command, click.Group) else {}
            for own, each in sorted(inner.items()):
                yield _row(f"`jitchat {name} {own}`", each.get_short_help_str(_LONGEST))


LISTS: Mapping[str, Callable[[], Iterator[str]]] = {
    "keys": keys,
    "settings": settings,
    "commands": command_lines,
}


def written(page: str) -> str:
    """Return a page with its lists updated."""
    for name, lines in LISTS.items():
        start, made = f"<!-- {name} -->\n", "\n".join(lines())
        head, found, rest = page.partition(start)
        if found:
            page = f"{head}{start}\n{made}\n\n<!-- end -->{rest.partition('<!-- end -->')[2]}"
    return page


def _default(setting: Setting) -> str:
    default = shown(setting.default, hidden=setting.hidden)
    return "" if default in ("not set", '""', "none") else f"`{default.strip(chr(34))}`"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _head(*titles: str) -> Iterator[str]:
    yield _row(*titles)
    yield "|---" * len(titles) + "|"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def main() -> None:
    for path in sorted(DOCS.glob("*.md")):
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
