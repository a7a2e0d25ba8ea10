"""Reading a window's messages into passages: who says what, when, and the question at the end.

This parses the very text that was sent: turns as messages, quoted turns and index lines in the
last one of the user's, what tools gave back behind it.
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
"""A file ahead of the message that it came with; without a text, the line that stands for one."""
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
"""What it said before it changed stands ahead of the arrow, and is not read."""
KEPT_FACT, DOCUMENT_LINE = "a fact that you kept", "the memory document"
"""Who says what a fact does, and what a line of the document does."""
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
    """What one speaker says in the window."""

    turn: int | None
    """None for a fact that was typed."""
    who: str
    day: str
    """As the window gives it; empty if it does not."""
    text: str
    whole: bool
    """Whether it is verbatim; False for an index line, which only sums the turn up."""
    conversation: str = ""
    """The id of another conversation that it is of; empty for the one that the window is of."""

    @property
    def where(self) -> str:
        """`#12`, `chat-3#12`; empty for what is of no turn."""
        return f"{self.conversation}#{self.turn}" if self.turn is not None else ""


def read_window(messages: Sequence[Message]) -> tuple[list[Passage], str]:
    """Read the passages, in order of the conversation, and the question."""
    passages: list[Passage] = []
    day = ""
    ahead, tail, behind = around_draft(messages)
    for message in ahead:
        if message.role is Role.SYSTEM:
            continue
        if message.use:
            passages += _of_tools(message)
            continue
        pins = _BLOCK.fullmatch(message.content) if message.turn is None else None
        if pins:
            passages += _quoted(pins)
            continue
        files, said = _files_ahead(message.content)
        passages += files
        day, text = _dated(said, day)
        passages.append(Passage(message.turn, message.role.value, day, text, whole=True))
    passages += [passage for message in behind for passage in _of_tools(message)]
    # a draft that is a message of its own has no blocks ahead of it: what looks so, was typed
    files, content = _files_ahead(tail.content)
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
    """Part what stands ahead of the draft from the draft, and from what was called since."""
    asked = [place for place, message in enumerate(messages) if message.role is Role.USER]
    if not asked:
        return messages, Message(Role.USER, ""), ()
    return messages[: asked[-1]], messages[asked[-1]], messages[asked[-1] + 1 :]


def _of_tools(message: Message) -> list[Passage]:
    """Read what a tool gave back: the turns that it quotes, or its own text."""
    quoted = [each for block in _BLOCK.finditer(message.content) for each in _quoted(block)]
    call = message.use.answers
    if quoted or call is None or call.name == REQUEST_CONTEXT:
        return quoted
    return [Passage(message.turn, f"tool {call.name}", "", message.content, whole=True)]


def _files_ahead(content: str) -> tuple[list[Passage], str]:
    """Part the files that stand ahead of a message from what it says."""
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
            *(int(row["turn"]), row["who"], row["day"] or "", _said(row)),
            whole=whole,
            conversation=row.groupdict().get("conversation") or "",
        )
        for row in rows
    ]


def _statement(row: re.Match[str], who: str) -> Passage:
    turn, day = int(row["turn"]) if row["turn"] else None, row["day"] or ""
    return Passage(turn, who, day, row["text"], whole=True, conversation=row["conversation"] or "")


def _observed(body: str) -> Iterator[Passage]:
    """Read the lines of observations; each stands for the first of its turns."""
    day = ""
    for line in body.splitlines():
        if _HEADING.fullmatch(line):
            day = f" {line}"
        elif row := _OBSERVED.fullmatch(line):
            who = row["who"] or "note"
            yield Passage(int(row["turn"]), who, f"observed{day}", row["text"], whole=True)


def _said(row: re.Match[str]) -> str:
    """Give the text without the marks of what an excerpt leaves out; these are paragraphs' ends."""
    fields = row.groupdict()
    if not fields.get("tag", "").startswith("excerpt"):
        return row["text"]
    marks = _LEFT_OUT.format(number=row["number"] or "", turn=row["turn"])
    return re.sub(marks, "", row["text"], flags=re.MULTILINE)
