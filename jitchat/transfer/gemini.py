"""Gemini's part of Google Takeout: `My Activity.json`, a list of prompts, newest first.

It has no conversations: prompts less than half an hour apart are grouped into one, and the report
says so. A title is a verb, in the account's language, followed by the prompt. Replies are HTML;
several replies to a prompt are versions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from jitchat.store.imported import IncomingTurn, Origin
from jitchat.text.sanitize import shorten
from jitchat.transfer.attached import file_piece, reader_of
from jitchat.transfer.census import strings_of
from jitchat.transfer.format import Format, Sample, values_of
from jitchat.transfer.incoming import IncomingConversation, Tally
from jitchat.transfer.json_text import Broken, mapping, moment_of, sequence, text
from jitchat.transfer.pieces import Piece, Text
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.turns import Note, TurnMaker
from jitchat.values import Role

if TYPE_CHECKING:
    from bs4 import Tag

NAME = "gemini"
GAP = timedelta(minutes=30)
_PREFIXES = ("Prompted with: ", "Asked Gemini: ", "Asked Bard: ", "Prompted ", "Asked ", "Said ")
_ACTIONS = ("Created ", "Used ", "Added ", "Gave ", "Selected ", "Shared ", "Deleted ", "Viewed ")
_NO_PROMPT = "entry that is not a prompt"
_ATTACHED = re.compile(r"Attached \d{1,4}+ files?\.?\Z")
_LABEL = re.compile(r"[^:：]*+[:：]\s*+")
_HEAD = 1 << 18
_ENOUGH = 8
"""Titles that must share a beginning before it is taken for a verb."""


def _is_entry(fields: Mapping[str, object]) -> bool:
    labels = (fields.get("header"), *sequence(fields.get("products")))
    return (
        isinstance(fields.get("title"), str)
        and "time" in fields
        and any(
            "gemini" in text(label).lower() or "bard" in text(label).lower() for label in labels
        )
    )


def _matches(sample: Sample) -> bool:
    return any(map(_is_entry, sample.items))


@dataclass(frozen=True, slots=True)
class _Entry:
    moment: datetime
    title: str
    fields: Mapping[str, object]

    @property
    def answers(self) -> list[str]:
        """The replies; if there are several, they are versions of each other."""
        listed = sequence(self.fields.get("safeHtmlItem"))
        replies = (html_text(text(mapping(item).get("html"))) for item in listed)
        return [reply for reply in replies if reply]

    @property
    def names(self) -> list[str]:
        """The names of attached files."""
        listed = (self.fields.get("imageFile"), *sequence(self.fields.get("attachedFiles")))
        return [text(name) for name in listed if text(name)]


def _read(file: SourceFile, source: Source) -> Iterator[IncomingConversation]:
    entries = sorted(_entries(file, source.tally), key=lambda entry: entry.moment)
    verb = _verb(entries)
    group = list[_Entry]()
    for entry in entries:
        if verb and not entry.title.startswith(verb):
            source.tally.skip(_NO_PROMPT)
            continue
        if group and entry.moment - group[-1].moment > GAP:
            yield _conversation(group, verb, source)
            group = []
        group.append(entry)
    if group:
        yield _conversation(group, verb, source)


def _entries(file: SourceFile, tally: Tally) -> Iterator[_Entry]:
    for value in values_of(file, tally):
        fields = mapping(value)
        if isinstance(value, Broken):
            tally.skip(f"entry that is {value.reason}")
        elif not _is_entry(fields):
            tally.skip("entry of another product")
        elif text(fields["title"]).startswith(_ACTIONS):
            tally.skip(_NO_PROMPT)
        elif (moment := moment_of(fields["time"])) is None:
            tally.skip("entry without a date")
        else:
            yield _Entry(moment, text(fields["title"]), fields)


def _verb(entries: Sequence[_Entry]) -> str:
    """Return the words with which all titles begin, for languages without a known prefix."""
    titles = [entry.title for entry in entries if entry.fields.get("safeHtmlItem")]
    if len(titles) < _ENOUGH or any(title.startswith(_PREFIXES) for title in titles):
        return ""
    first, last = min(titles), max(titles)
    pairs = enumerate(zip(first, last, strict=False))
    alike = first[: next((at for at, (one, other) in pairs if one != other), len(first))]
    verb = alike[: alike.rfind(" ") + 1]
    label = _LABEL.match(verb)  # what follows a colon is the user's, even if all prompts begin so
    return label[0] if label else verb


def _prompt(title: str, verb: str) -> str:
    said = next((p for p in (*_PREFIXES, verb) if p and title.startswith(p)), "")
    return _ATTACHED.sub("", title[len(said) :].strip()).strip()


def _conversation(group: Sequence[_Entry], verb: str, source: Source) -> IncomingConversation:
    tally, first = Tally(), group[0]
    tally.change("conversation that was inferred from times alone")
    return IncomingConversation(
        Origin(NAME, first.moment.isoformat()),
        shorten(_prompt(first.title, verb), 80),
        list(_turns(group, verb, tally, source)),
        tally,
        created_at=first.moment,
        updated_at=group[-1].moment,
        id=f"{NAME}-{first.moment:%Y%m%d-%H%M}",
    )


def _turns(
    group: Sequence[_Entry], verb: str, tally: Tally, source: Source
) -> Iterator[IncomingTurn]:
    maker = TurnMaker(tally)
    for entry in group:
        tally.read({**entry.fields, "title": _prompt(entry.title, verb)})
        if verb and not _LABEL.match(verb):  # in part, it may be the user's
            tally.change(f"prompt without “{verb.strip()}”, with which all begin")
        note, identity = Note(entry.moment), entry.moment.isoformat()
        said: list[Piece] = [Text(_prompt(entry.title, verb))]
        said += [Text(part) for part in strings_of(entry.fields.get("subtitles"))]
        said += [file_piece(tally, "file", name, reader_of(source, name)) for name in entry.names]
        yield from maker.turns(identity, Role.USER, said, None, note)
        place = maker.last
        for number, answer in enumerate(entry.answers):
            name = f"{identity} answer {number}"
            yield from maker.turns(name, Role.ASSISTANT, [Text(answer)], place, note)


def html_text(html: str) -> str:
    """Return HTML as Markdown: lists, links, tables and code as they were."""
    from markdownify import MarkdownConverter  # noqa: PLC0415  imports a parser

    converter = MarkdownConverter(
        heading_style="ATX",
        bullets="-",
        escape_asterisks=False,
        escape_underscores=False,
        sub_symbol="~",
        sup_symbol="^",
        code_language_callback=_language,
    )
    try:
        return str(converter.convert(html)).strip()
    except RecursionError:  # elements that are nested hundreds of times
        return re.sub(r"<[^<>]*+>", " ", html).strip()


def _language(block: "Tag") -> str:
    """Return the language that a block of code names: `<code class="language-python">`."""
    names = [name for tag in (block, block.code) if tag for name in tag.get("class") or ()]
    return next((name[9:] for name in names if name.startswith("language-")), "")


IN_HTML = (
    "This is Takeout's activity in HTML. Request JSON from Takeout: My Activity, Multiple formats."
)


def is_activity_page(file: SourceFile) -> bool:
    """Whether a file is the same activity in HTML, which is Takeout's default."""
    if not file.name.lower().endswith(".html"):
        return False
    with file.open() as opened:
        return b'class="outer-cell' in opened.read(_HEAD)


GEMINI = Format(NAME, "Gemini's activity from Google Takeout (JSON)", _matches, _read)
