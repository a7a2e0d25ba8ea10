"""The hint line while a command is typed: what it does, and afterwards what stood there before."""

import re

from jitchat.tui.commands import COMMANDS, addressed_in, is_command, mistyped
from jitchat.tui.keys import command_help
from jitchat.tui.widgets.hint_line import HintLine
from jitchat.values import Mode

_MODE_WITHIN = re.compile(rf"(?<!\S)@({'|'.join(Mode)})(?!\S)", re.IGNORECASE)
_LOOKED_AT = 10_000
"""Characters of a draft in which a mode is looked for."""


class CommandHint:
    """Follows the draft."""

    def __init__(self, line: HintLine) -> None:
        self._line = line
        self._before: tuple[str, ...] | None = None
        """What the line told before the command; None while none is typed."""

    def follow(self, draft: str) -> bool:
        """Tell of the command in the draft, if it is one; whether it was one before, too."""
        was_command = self._before is not None
        if is_command(draft):
            if self._before is None:
                self._before = self._line.sentences
            self._line.show_cost(hint_on(draft))
            return was_command
        if self._before is not None:
            before, self._before = self._before, None
            self._line.show_cost(*before)
        return False

    def renew(self, draft: str) -> None:
        """Tell of it again: another window is on screen behind it."""
        self._before = None
        self.follow(draft)


def hint_on(draft: str) -> str:
    """Say what Enter does with a command as far as it is typed."""
    name = draft[1:].split(maxsplit=1)[0].lower() if draft[1:].strip() else ""
    if name not in COMMANDS:
        fitting = [f"/{each}" for each in COMMANDS if each.startswith(name)]
        return "  ".join(fitting) if fitting else f"/{name} is no command · F1 lists them"
    return mistyped(draft) or f"/{name} · {command_help(name)}"


def mode_within(draft: str) -> str:
    """Say that a mode counts at the beginning only, where a draft has one elsewhere."""
    found = _MODE_WITHIN.search(addressed_in(draft[:_LOOKED_AT]).text)
    return f"{found[0]} counts at the beginning only: here it is text" if found else ""
