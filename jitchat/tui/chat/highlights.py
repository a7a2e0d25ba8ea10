"""Highlight what is recognised in the prompt: a command, a mode, turns, files.

A highlight shows that the text has a meaning: `/mode`, `@full` at the start, `#12` if the turn
exists, `@notes.md` if the file exists. Files are looked up in a thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jitchat.errors import FileRefused
from jitchat.files.mentions import mentions_in
from jitchat.files.named import find_mention
from jitchat.paths import current_folder
from jitchat.text.sentences import reference_spans
from jitchat.tui.chat.commands import beginning_of
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.opening import Opening
from jitchat.turn_list import up_to

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEARCHED = 10_000
"""Maximum characters of a line or draft that are searched."""
Span = tuple[int, int]


@dataclass(eq=False)
class Highlights(Controller):
    opening: Opening
    _paths: dict[str, bool] = field(default_factory=dict)
    """Whether each path mentioned in the draft exists."""

    def __post_init__(self) -> None:
        self.surfaces.prompt.recognised = self.spans

    def follow(self) -> None:
        """Look up newly typed paths; clearing the prompt forgets all of them."""
        draft = self.surfaces.prompt.message.typed[:_SEARCHED]
        if not draft:
            self._paths.clear()
        mentions = (mention.name for mention in mentions_in(draft))
        unknown = [path for path in mentions if path not in self._paths]
        if unknown:
            self._paths |= dict.fromkeys(unknown, False)
            self.host.in_thread(lambda: self._look_up(unknown), "paths")

    def _take(self, paths: dict[str, bool]) -> None:
        self._paths |= paths
        self.surfaces.prompt.draw_marks()

    def spans(self, line: str, typed: str, *, is_first: bool) -> Iterator[Span]:
        """Yield the spans to highlight in a line of the prompt; `is_first` is the first line.

        `typed` is the line without its foreign text, which attaches nothing.
        """
        line = line[:_SEARCHED]
        if is_first and (found := beginning_of(line, self.surfaces.prompts)) is not None:
            yield found
        mentions = mentions_in(typed[:_SEARCHED])
        yield from ((m.start, m.end) for m in mentions if self._paths.get(m.name))
        session = self.opening.session
        turns = session.memory.snapshot.turns if session is not None else ()
        for span, position in reference_spans(line):
            if up_to(turns, position) > up_to(turns, position - 1):
                yield span

    def _look_up(self, paths: list[str]) -> None:
        self.host.later(self._take, {path: is_there(path) for path in paths})


def is_there(mention: str) -> bool:
    """Whether a mention names a file that can be attached. Slow."""
    try:
        return bool(find_mention(mention, current_folder()).files)
    except FileRefused:  # too many files, which is reported when the message is sent
        return True
