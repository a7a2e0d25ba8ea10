"""What is recognised in the prompt and marked where it stands: a command, a mode, turns, files.

A mark tells that it is no mere word: `/mode`, `@full` at the beginning, `#12` where there is that
turn, `@notes.md` where there is that file. Whether there is a file is looked up in a thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jitchat.errors import FileRefused
from jitchat.files.mentions import files_at, names_in
from jitchat.text.sentences import reference_spans
from jitchat.tui.chat.commands import beginning_of
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.turn_list import up_to

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEARCHED = 10_000
"""Characters of a line or a draft that are looked through."""
Span = tuple[int, int]


@dataclass(eq=False)
class Highlights(Controller):
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
        mentions = (path for _, path in names_in(draft))
        unknown = [path for path in mentions if path not in self._paths]
        if unknown:
            self._paths |= dict.fromkeys(unknown, False)
            self.host.in_thread(lambda: self._look_up(unknown), "paths")

    def _take(self, paths: dict[str, bool]) -> None:
        self._paths |= paths
        self.surfaces.prompt.draw_marks()

    def spans(self, line: str, *, is_first: bool) -> Iterator[Span]:
        """Find what is recognised in a line of the prompt, the first or another one."""
        line = line[:_SEARCHED]
        if is_first and (found := beginning_of(line, self.surfaces.prompts)) is not None:
            yield found
        yield from (span for span, path in names_in(line) if self._paths.get(path))
        session = self.opening.session
        turns = session.memory.snapshot.turns if session is not None else ()
        for span, position in reference_spans(line):
            if up_to(turns, position) > up_to(turns, position - 1):
                yield span

    def _look_up(self, paths: list[str]) -> None:
        self.host.later(self._take, {path: _is_there(path) for path in paths})


def _is_there(path: str) -> bool:
    try:
        return bool(files_at(path, Path.cwd()))
    except FileRefused:  # there are too many, which is told when they are sent
        return True
