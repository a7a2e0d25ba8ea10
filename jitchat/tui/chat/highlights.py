"""What is recognised in the prompt and marked where it stands: a command, a mode, turns, files.

A mark tells that it is no mere word: `/mode`, `@full` at the beginning, `#12` where there is that
turn, `@notes.md` where there is that file. Whether there is a file is looked up in a thread.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from jitchat.text.sentences import reference_spans
from jitchat.tui.chat.commands import beginning_of
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.turn_list import up_to

if TYPE_CHECKING:
    from collections.abc import Iterator

_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|([^\s"]\S*))')
_BEHIND = ".,;:!?)'"
"""Signs of the sentence that may follow a path."""
_SEARCHED, _MOST = 10_000, 100
"""Characters of a line or a draft that are looked through, and so many paths of it."""
Span = tuple[int, int]


@dataclass(eq=False)
class Highlights(Controller):
    @dataclass
    class Found(Message):
        """Which paths there are."""

        paths: dict[str, bool]

    opening: Opening
    _paths: dict[str, bool] = field(default_factory=dict)
    """Of the draft, whether there is a file."""

    def __post_init__(self) -> None:
        self.surfaces.prompt.recognised = self.spans

    def follow(self) -> None:
        """Look up the paths that were typed since; those of an emptied prompt are forgotten."""
        draft = self.surfaces.prompt.text[:_SEARCHED]
        if not draft:
            self._paths.clear()
        mentions = (path for _, path in islice(_mentions(draft), _MOST))
        unknown = [path for path in mentions if path not in self._paths]
        if unknown:
            self._paths |= dict.fromkeys(unknown, False)
            self.host.in_thread(lambda: self._look_up(unknown), "paths")

    def take(self, message: Found) -> None:
        self._paths |= message.paths
        self.surfaces.prompt.draw_marks()

    def spans(self, line: str, *, is_first: bool) -> Iterator[Span]:
        """Find what is recognised in a line of the prompt, the first or another one."""
        line = line[:_SEARCHED]
        if is_first and (found := beginning_of(line, self.surfaces.prompts)) is not None:
            yield found
        yield from (span for span, path in _mentions(line) if self._paths.get(path))
        session = self.opening.session
        turns = session.memory.snapshot.turns if session is not None else ()
        for span, position in reference_spans(line):
            if up_to(turns, position) > up_to(turns, position - 1):
                yield span

    def _look_up(self, paths: list[str]) -> None:
        self.host.post(self.Found({path: _is_there(path) for path in paths}))


def _mentions(text: str) -> Iterator[tuple[Span, str]]:
    """Find what may name a file, with its `@`, and the path."""
    for found in _MENTION.finditer(text):
        path = found[1] or found[2].rstrip(_BEHIND)
        quote = 1 if found[1] else 0
        yield (found.start(), found.start() + 1 + len(path) + 2 * quote), path


def _is_there(path: str) -> bool:
    try:
        return (Path.cwd() / Path(path).expanduser()).exists()
    except (OSError, RuntimeError, ValueError):  # no path
        return False
