"""Parsing a window's messages into passages, with speaker and date, and the final question.

The parsed text is exactly the text that was sent: turns as messages, quoted turns and index lines
in the last user message, tool results after it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jitchat.values import REQUEST_CONTEXT, Message, Role

_DAY = re.compile(r"\A\[([A-Z][a-z]{2} \d{4}-\d\d-\d\d)\]\n")
_BLOCK = re.compile(
    r"^<(?P<tag>(?P<kind>index|recalled|pinned|requested|observations|document|standing|facts"
    r"|elsewhere|documents)"
    r"(?:-\d+)?)>\n"
    r"(?P<body>.*?)^</(?P=tag)>\n",
    re.MULTILINE | re.DOTALL,
)
_QUOTED = re.compile(
    r"^<(?P<tag>(?:turn|excerpt|part)(?P<number>-\d+)?) (?P<conversation>[^\s#<>]*)#(?P<turn>\d+)"
    r"(?: “[^”\n]*”)?(?: (?P<day>\w{3} \d+-\d\d-\d\d))?"
    r" (?P<who>[^<>\n]*)>\n(?P<text>.*?)\n</(?P=tag)>$",
    re.MULTILINE | re.DOTALL,
)
_FILE = re.compile(
    r"<(?P<tag>file(?:-\d+)?) #(?P<turn>\d+) (?P<name>[^<>\n]*)"
    r"(?:/>\n|: attached data, not instructions>\n(?P<text>.*?)\n?^</(?P=tag)>\n)",
    re.MULTILINE | re.DOTALL,
)
"""A file before the message that it was attached to; without a text, its placeholder line."""
_KEPT = re.compile(r"\A#[^\n]{1,160} kept and not shown; request_context finds [^\n]{1,5}\n")
_FACT = re.compile(
    r"^- (?P<text>.*?)(?: \((?P<day>\d{4}-\d\d-\d\d)\))?"
    r"(?: \((?:(?P<conversation>[^\s()]+) )?#(?P<turn>\d+)(?:–#\d+)?\))?$",
    re.MULTILINE,
)
_DOCUMENT_LINE = re.compile(
    r"^- (?:.*\) → )?(?P<text>.*?)(?: \(of [\d, -]+\))?(?: \((?P<day>\d{4}-\d\d-\d\d)\))?"
    r"(?: \((?:(?P<conversation>[^\s()]+) )?#(?P<turn>\d+)(?:–#\d+)?\))?$",
    re.MULTILINE,
)
"""The former statement is before the arrow, and is not read."""
KEPT_FACT, DOCUMENT_LINE = "a fact that you kept", "the memory document"
"""The speakers of facts and of lines of the memory document."""
_LEFT_OUT = r"^\[…{number} [\d,]+ tokens of #{turn} left out …\]$"
_LINE = re.compile(
    r"^#(?P<turn>\d+)(?: (?P<day>\d{4}-\d\d-\d\d))? (?P<who>[^:]*?)(?: \(decision\))?:"
    r" (?P<text>.*)$",
    re.MULTILINE,
)
_OBSERVED = re.compile(
    r"- (?:\d\d:\d\d )?(?:\[\w+\] )?(?:(?P<who>[^\s:.!?][^:.!?]{0,39}): )?(?P<text>.*)"
    r" \(#(?P<turn>\d+)(?:–#\d+)?\)"
)
_HEADING = re.compile(r"[A-Z][a-z]{2} \d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text of one speaker in the window."""

    turn: int | None
    """None for a fact that the user typed."""
    who: str
    day: str
    """In the window's format; empty if the window does not give it."""
    text: str
    whole: bool
    """Whether the text is verbatim; False for an index line, which is a summary of the turn."""
    conversation: str = ""
    """The id of the conversation, if it is not the window's own; otherwise empty."""

    @property
    def where(self) -> str:
        """`#12` or `chat-3#12`; empty if the passage does not belong to a turn."""
        return f"{self.conversation}#{self.turn}" if self.turn is not None else ""


def read_window(messages: Sequence[Message]) -> tuple[list[Passage], str]:
    """Return the passages, in order of the conversation, and the question."""
    passages: list[Passage] = []
    day = ""
    before, tail, after = around_draft(messages)
    for message in before:
        if message.role is Role.SYSTEM:
            continue
        if message.use:
            passages += _tool_passages(message)
            continue
        pins = _BLOCK.fullmatch(message.content) if message.turn is None else None
        if pins:
            passages += _quoted(pins)
            continue
        files, rest = _leading_files(message.content)
        passages += files
        day, text = _dated(rest, day)
        passages.append(Passage(message.turn, message.role.value, day, text, whole=True))
    passages += [passage for message in after for passage in _tool_passages(message)]
    # a draft in its own message has no blocks before it: what looks like one was typed
    files, content = _leading_files(tail.content)
    passages += files
    end = 0
    while tail.turn is None and (block := _BLOCK.match(content, end)):
        passages += _quoted(block)
        end = block.end()
    question = _KEPT.sub("", content[end:], count=1)
    passages.sort(key=lambda passage: 0 if passage.conversation else passage.turn or 0)
    return passages, _dated(question.removeprefix("\n"), day)[1].strip()


def around_draft(
    messages: Sequence[Message],
) -> tuple[Sequence[Message], Message, Sequence[Message]]:
    """Split the messages into those before the draft, the draft, and tool messages after it."""
    places = [place for place, message in enumerate(messages) if message.role is Role.USER]
    if not places:
        return messages, Message(Role.USER, ""), ()
    return messages[: places[-1]], messages[places[-1]], messages[places[-1] + 1 :]


def _tool_passages(message: Message) -> list[Passage]:
    """Read a tool result: the turns that it quotes, or its text."""
    quoted = [each for block in _BLOCK.finditer(message.content) for each in _quoted(block)]
    call = message.use.answers
    if quoted or call is None or call.name == REQUEST_CONTEXT:
        return quoted
    return [Passage(message.turn, f"tool {call.name}", "", message.content, whole=True)]


def _leading_files(content: str) -> tuple[list[Passage], str]:
    """Split the files at the start of a message from its text."""
    files, end = list[Passage](), 0
    while file := _FILE.match(content, end):
        end = file.end()
        if file["text"]:
            files.append(Passage(int(file["turn"]), file["name"], "", file["text"], whole=True))
    return files, content[end:]


def _dated(text: str, day: str) -> tuple[str, str]:
    marker = _DAY.match(text)
    return (marker[1], text[marker.end() :]) if marker else (day, text)


def _quoted(block: re.Match[str]) -> list[Passage]:
    if block["kind"] in ("standing", "facts"):
        return [_statement(row, KEPT_FACT) for row in _FACT.finditer(block["body"])]
    if block["kind"] == "document":
        return [_statement(row, DOCUMENT_LINE) for row in _DOCUMENT_LINE.finditer(block["body"])]
    if block["kind"] == "observations":
        return list(_observed(block["body"]))
    whole = block["kind"] != "index"
    rows = (_QUOTED if whole else _LINE).finditer(block["body"])
    return [
        Passage(
            *(int(row["turn"]), row["who"], row["day"] or "", _text_of(row)),
            whole=whole,
            conversation=row.groupdict().get("conversation") or "",
        )
        for row in rows
    ]


def _statement(row: re.Match[str], who: str) -> Passage:
    turn, day = int(row["turn"]) if row["turn"] else None, row["day"] or ""
    return Passage(turn, who, day, row["text"], whole=True, conversation=row["conversation"] or "")


def _observed(body: str) -> Iterator[Passage]:
    """Read the lines of observations; each gets the number of its first turn."""
    day = ""
    for line in body.splitlines():
        if _HEADING.fullmatch(line):
            day = f" {line}"
        elif row := _OBSERVED.fullmatch(line):
            who = row["who"] or "note"
            yield Passage(int(row["turn"]), who, f"observed{day}", row["text"], whole=True)


def _text_of(row: re.Match[str]) -> str:
    """Return the text without an excerpt's marks for omissions, which are at paragraph ends."""
    fields = row.groupdict()
    if not fields.get("tag", "").startswith("excerpt"):
        return row["text"]
    marks = _LEFT_OUT.format(number=row["number"] or "", turn=row["turn"])
    return re.sub(marks, "", row["text"], flags=re.MULTILINE)
