"""How turns are written into messages: the exact characters a model reads.

Recalled text is data that somebody wrote: it stands in a fence whose tag occurs in none of
the texts that it holds, so no turn can close it and pose as the user or as the system.
Every piece of the tail starts with `<` or `#` and ends with a line feed: at such a border
tokenizers always split, so the pieces' tokens add up to the message's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count

from jitchat.text.safe import one_line
from jitchat.turn import IndexEntry, Turn


def verbatim(turn: Turn, previous: Turn | None) -> str:
    """A turn as its own message: its text, after its day where that is news, and its name."""
    day = f"[{_day(turn)}]\n" if _starts_a_day(turn, previous) else ""
    name = f"{one_line(turn.name)}: " if turn.name else ""
    return f"{day}{name}{turn.content}"


def index_line(entry: IndexEntry, turn: Turn) -> str:
    """One line that says that a turn exists and what it is about."""
    when = f" {turn.created_at:%Y-%m-%d}" if turn.created_at else ""
    mark = " (decision)" if entry.decision else ""
    return f"#{turn.position}{when} {one_line(turn.speaker)}{mark}: {entry.summary}\n"


def quoted(turn: Turn, tag: str) -> str:
    """A recalled turn at full text, with who said it and when."""
    when = f' date="{_day(turn)} {turn.created_at:%H:%M}"' if turn.created_at else ""
    speaker = one_line(turn.speaker).replace('"', "'")
    return f'<{tag} id="{turn.position}" from="{speaker}"{when}>\n{turn.content}\n</{tag}>\n'


def fenced(tag: str, pieces: Sequence[str]) -> list[str]:
    """The pieces with the opening tag on the first and the closing tag on the last."""
    if not pieces:
        return []
    marked = list(pieces)
    marked[0] = f"<{tag}>\n{marked[0]}"
    marked[-1] = f"{marked[-1]}</{tag}>\n"
    return marked


def free_tag(tag: str, texts: Iterable[str]) -> str:
    """`tag`, or the first of tag-1, tag-2 … that none of the texts contains as a tag."""
    everything = "\n".join(texts).lower()
    names = (tag if number == 0 else f"{tag}-{number}" for number in count())
    return next(n for n in names if f"<{n}" not in everything and f"</{n}" not in everything)


def _starts_a_day(turn: Turn, previous: Turn | None) -> bool:
    if turn.created_at is None:
        return False
    known = previous.created_at if previous else None
    return known is None or known.date() != turn.created_at.date()


def _day(turn: Turn) -> str:
    return f"{turn.created_at:%a %Y-%m-%d}" if turn.created_at else ""
