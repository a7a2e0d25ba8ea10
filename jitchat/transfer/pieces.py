"""The parts of a message: text, reasoning, calls and their results, files, sources."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from jitchat.store.imported import IncomingFile
from jitchat.text.sanitize import one_line
from jitchat.transfer.census import NO_RULES, Rules, key_of, strings_by_key
from jitchat.transfer.json_text import as_arguments, mapping, sequence, text
from jitchat.values import ToolCall

LONGEST_NAME = 80
_TITLES = ("title", "name", "attribution")


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    call_id: str
    content: str
    is_error: bool = False
    moment: datetime | None = None
    """When it came back; None for the time of its message."""
    files: tuple[IncomingFile, ...] = ()
    """Pictures, which `content` names."""


Piece = Text | Thought | ToolCall | Result | IncomingFile
"""A part of a message; the order of the parts is kept."""


def call_piece(identity: object, name: object, given: object) -> ToolCall:
    """Make a call from values of any type; without an id, its name identifies it."""
    called = text(name) or "tool"
    return ToolCall(text(identity) or called, called, as_arguments(given))


def attachment(kind: str, name: str = "", detail: str = "") -> Text:
    """Return the text in place of an attachment that is not kept: `[image: plan.png, 80 kB]`."""
    details = ", ".join(filter(None, (one_line(name)[:LONGEST_NAME], detail)))
    return Text(f"[{kind}: {details}]" if details else f"[{kind}]")


def with_files(result: Result, pieces: Sequence[Piece]) -> Result:
    """Add what a result contains beside its text: files, and the names of those not kept."""
    files = tuple(piece for piece in pieces if isinstance(piece, IncomingFile))
    texts = [piece.text for piece in pieces if isinstance(piece, Text)]
    parts = (result.content, *texts, *(file.otherwise for file in files))
    content = "\n\n".join(part for part in parts if part)
    return replace(result, content=content, files=(*result.files, *files))


def quote(said: str) -> Text:
    """Return a text that a message replies to, as a quotation; empty if there is none."""
    return Text("\n".join(f"> {line}" for line in said.splitlines()))


def size_of(value: object) -> str:
    """Format a size in bytes; empty if the value is not a size."""
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        return ""
    if value < 1_000:
        return f"{value} bytes"
    return f"{value / 1000:,.0f} kB" if value < 1_000_000 else f"{value / 1e6:,.1f} MB"


def sources_in(value: object) -> Iterator[tuple[str, str]]:
    """Yield the URL and the title of every source that is described anywhere in a value."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        fields = mapping(value)
        described = {**mapping(fields.get("metadata")), **fields}
        url = text(described.get("url")) or text(described.get("link"))
        url = url or text(described.get("name") if fields.get("type") == "file" else "")
        if url:
            titles = (text(described.get(key)) for key in _TITLES)
            yield url, next((title for title in titles if title), "")
        waiting += reversed((*sequence(value), *fields.values()))


def link(title: str, url: str) -> str:
    """Return a link in Markdown; only the title if the address is none of a page."""
    is_address = "://" in url and title not in ("", url)
    return f"[{title}]({url})" if is_address else title or url


def sources_below(said: str, *values: object) -> str:
    """Return the list of the sources that a text does not link to; empty if there are none."""
    titles: dict[str, str] = {}
    for url, title in sources_in(list(values)):
        titles[url] = titles.get(url) or title
    missing = [source for source in titles.items() if not all(part in said for part in source)]
    lines = [f"- {link(title, url)}" for url, title in missing]
    return "\n".join(["Sources:", *lines]) if lines else ""


def card(kind: str, value: object, rules: Rules = NO_RULES, key: str = "") -> Text:
    """Return structured content, such as a chart or a list of products, as lines of text.

    `key` is its key in the source. What the rules exclude is not in it; without any text, it is
    empty.
    """
    strings = strings_by_key({key: value}, rules)
    if all(listed in rules.excluded for _, listed, _ in strings):
        return Text("")
    first, *others = _lines(value, key, rules)
    if not others:
        return Text(f"[{kind}: {first}]")
    return Text("\n".join([f"[{kind}]", *(f"- {line}" for line in (first, *others))]))


def _lines(value: object, key: str, rules: Rules) -> Iterator[str]:
    """Yield a line for each object or list that has texts or numbers, then those in it."""
    waiting = [(key, value)]
    while waiting:
        outer, holder = waiting.pop()
        members = [("", outer, inner) for inner in sequence(holder)]
        for name, inner in mapping(holder).items():
            inner_key, listed = key_of(rules, outer, name)
            if listed not in rules.excluded:
                members.append((f"{name}: ", inner_key, inner))
        single = [f"{name}{inner}" for name, _, inner in members if _is_single(inner)]
        if single:
            yield ", ".join(single)
        waiting += reversed([(inner_key, inner) for _, inner_key, inner in members])


def _is_single(value: object) -> bool:
    """Whether a value is a text or a number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number or bool(text(value).strip())
