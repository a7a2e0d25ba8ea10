"""`jitchat document`: a project's memory document, its versions and their differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

import click

from jitchat.cli import cold_store, options, output
from jitchat.errors import UsageError
from jitchat.statements import DocumentLine, MemoryDocument
from jitchat.store.documents import BY_USER, DocumentStore, Version
from jitchat.synthesis import document_edits
from jitchat.synthesis.document_edits import MOST_WORDS, words_of
from jitchat.text.figures import plural
from jitchat.window.statements import document_text, line_text

_PINNED, _EDITED = "pinned", "edited"


@dataclass(frozen=True, slots=True)
class DocumentFlags:
    project: str = options.option("Project of the document.", "NAME", default="default")
    version: int | None = options.count_option("Show version N.")
    versions: bool = options.option("List all versions.")
    diff: tuple[int, int] | None = options.option(
        "Show the changes from version A to version B.", "A B", type=(int, int)
    )
    edit: bool = options.option("Edit the document in $EDITOR.")
    pin: int | None = options.option("Pin or unpin line N.", "N", type=int)
    forget: int | None = options.option("Remove line N.", "N", type=int)
    undo: bool = options.option("Restore the previous version as a new version.")
    text: bool = options.option("Print the text as it is sent in a window.")
    json: bool = options.option("Print JSON.")

    def require_one_change(self) -> None:
        changes = [self.edit, self.pin is not None, self.forget is not None, self.undo]
        if sum(changes) > 1:
            raise UsageError("Use only one of --edit, --pin, --forget and --undo at a time.")


@click.command("document", cls=options.SharingCommand)
@options.location_options
def document_command(flags: options.Flags, wanted: DocumentFlags) -> None:
    """Show or edit a project's memory document.

    Each line is shown with its number, date and source. The document is rewritten when a session
    ends: when you leave the conversation or quit, after twenty minutes without a message, or on
    /end or `jitchat send --end`. Every change makes a new version, and all versions are kept.
    """
    wanted.require_one_change()
    with cold_store.opened_store(flags.paths()) as store:
        documents = DocumentStore(store.database, wanted.project, store.now)
        if change := _change(wanted, store.now().date()):
            changed = documents.put(change(documents.latest()), BY_USER)
            output.say(f"Version {changed.version:,} is now the current one.", err=True)
        elif wanted.undo:
            undone = documents.undo()
            output.say(f"Version {undone.version:,} is now the current one.", err=True)
        _show(documents, wanted)


def _change(
    wanted: DocumentFlags, today: date
) -> Callable[[MemoryDocument], MemoryDocument] | None:
    if wanted.pin is not None:
        return partial(document_edits.pinned, number=wanted.pin)
    if wanted.forget is not None:
        return partial(document_edits.forgotten, number=wanted.forget)
    return partial(_by_editor, today=today) if wanted.edit else None


def _by_editor(document: MemoryDocument, today: date) -> MemoryDocument:
    """Open the document in the user's editor; leave it unchanged if the text is not saved."""
    text = click.edit(document_text(document), extension=".md")
    return document if text is None else document_edits.from_text(text, document, today)


def _show(documents: DocumentStore, wanted: DocumentFlags) -> None:
    if wanted.diff is not None:
        _show_difference(documents, *wanted.diff, as_json=wanted.json)
    elif wanted.versions:
        names = "version=number made_by made_at lines restores"
        versions = documents.versions()
        output.print_records(versions, names, _version_row, as_json=wanted.json, right=(0,))
    else:
        found = documents.latest() if wanted.version is None else documents.at(wanted.version)
        _show_document(found, wanted)


def _show_document(document: MemoryDocument, wanted: DocumentFlags) -> None:
    if wanted.json:
        output.say_json(_document_fields(document, wanted.project))
    elif wanted.text:
        output.say(document_text(document), newline=False)
    elif not document.lines:
        output.say(f"The memory document of project {wanted.project!r} is empty.")
        output.say("It is written when a session ends: leave the chat, or enter /end.", err=True)
    else:
        output.say(summary(document))
        section = None
        for number, line in enumerate(document.lines, start=1):
            if line.section is not section:
                section = line.section
                output.say(f"\n{section}")
            marks = "".join(f" [{mark}]" for mark in marks_of(line))
            output.say(f"{number:>4} {line_text(line)}{marks}")


def summary(document: MemoryDocument) -> str:
    lines = plural(len(document.lines), "line")
    return (
        f"version {document.version:,} · {lines} · {words_of(document):,} of {MOST_WORDS:,} words"
    )


def marks_of(line: DocumentLine) -> list[str]:
    marks = [_PINNED] * line.is_pinned + [_EDITED] * line.is_edited
    return marks + ([f"said {line.mentions + 1} times"] if line.mentions else [])


def _version_row(version: Version) -> Sequence[str]:
    restored = f": restored version {version.restores:,}" if version.restores else ""
    made_at = f"{version.made_at:%Y-%m-%d %H:%M}"
    lines = plural(version.lines, "line")
    return f"{version.number:,}", made_at, lines, f"{version.made_by}{restored}"


def _show_difference(documents: DocumentStore, old: int, new: int, *, as_json: bool) -> None:
    changes = document_edits.difference(documents.at(old), documents.at(new))
    signs = {True: "+", False: "-"}
    lines = [
        f"{signs[change.is_added]} {change.line.section}: {line_text(change.line)}"
        for change in changes
    ]
    fields = [{"added": change.is_added, **_line_fields(change.line)} for change in changes]
    output.tell(fields, "\n".join(lines), as_json=as_json)


def _document_fields(document: MemoryDocument, project: str) -> dict[str, Any]:
    return {
        "project": project,
        **output.json_fields(document, "version through"),
        "words": words_of(document),
        "lines": [_line_fields(line) for line in document.lines],
    }


def _line_fields(line: DocumentLine) -> dict[str, Any]:
    names = "section text speaker source date=day refers_to replaced mentions"
    fields = output.json_fields(line, f"{names} pinned=is_pinned edited=is_edited")
    fields["speaker"] = line.speaker or None
    if line.replaced is not None:
        fields["replaced"] = output.json_fields(line.replaced, "text source date=day")
    return fields
