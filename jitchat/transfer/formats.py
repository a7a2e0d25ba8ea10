"""Recognize a file's format and read its conversations one after the other.

Nothing is stored here, so a file that cannot be read leaves nothing in the store.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from jitchat.errors import ImportFailed
from jitchat.store.store import ColdStore
from jitchat.text.figures import plural
from jitchat.transfer.chatgpt import CHATGPT
from jitchat.transfer.claude import CLAUDE
from jitchat.transfer.claude_code import CLAUDE_CODE
from jitchat.transfer.codex import CODEX
from jitchat.transfer.format import Format, Shape, sample_of
from jitchat.transfer.gemini import GEMINI, IN_HTML, is_activity_page
from jitchat.transfer.incoming import IncomingConversation
from jitchat.transfer.jitchat_json import JITCHAT
from jitchat.transfer.json_text import CutOff, NotJson
from jitchat.transfer.librechat import LIBRECHAT
from jitchat.transfer.llm_logs import LLM_LOGS
from jitchat.transfer.locomo import LOCOMO
from jitchat.transfer.open_webui import OPEN_WEBUI
from jitchat.transfer.opencode import OPENCODE
from jitchat.transfer.plain import PLAIN
from jitchat.transfer.sillytavern import SILLYTAVERN
from jitchat.transfer.source import Source, SourceFile
from jitchat.transfer.turns import FileConversation
from jitchat.values import Conversation

FORMATS = (
    JITCHAT, CLAUDE, CHATGPT, OPEN_WEBUI, LIBRECHAT, GEMINI, LOCOMO, SILLYTAVERN, CLAUDE_CODE,
    CODEX, OPENCODE, LLM_LOGS, PLAIN,
)  # fmt: skip
"""In the order in which they are tried. A single file in no other format is read as the last."""
BY_NAME = {each.name: each for each in FORMATS}
_DESCRIBED = [each.description for each in FORMATS]
EXPECTED = f"Supported formats: {', '.join(_DESCRIBED[:-1])}, and {_DESCRIBED[-1]}."
_MOST_NAMES = 20


def conversations_of(
    source: Source, wanted: Format | None = None
) -> Iterator[IncomingConversation]:
    """Read the conversations of all files; only those in the `wanted` format, if one is given.

    Raises:
        ImportFailed: The only file cannot be read, or is in no known format. With several files,
            such a file is skipped and counted.

    """
    for file in source.files:
        try:
            form = _format_of(file, source, wanted)
            if form is not None:
                yield from form.read(file, source)
        except (NotJson, ImportFailed) as error:
            note_failure(source, error)


def expected(source: Source) -> str:
    """Return the remedy for a source that cannot be imported: what can be imported instead."""
    with suppress(ImportFailed):
        if any(map(is_activity_page, (*source.files, *source.others))):
            return IN_HTML
    return EXPECTED


def note_failure(source: Source, error: NotJson | ImportFailed) -> None:
    """Count a file that cannot be read; if it is the only one, raise ImportFailed."""
    if source.is_single:
        if isinstance(error, NotJson):
            raise ImportFailed(f"{source.path} {error.reason}.", expected(source)) from None
        raise error
    reason = "cannot be read"
    if isinstance(error, NotJson):
        reason = "is cut off" if isinstance(error, CutOff) else error.reason.partition(":")[0]
    source.tally.skip(f"file that {reason}")


def _format_of(file: SourceFile, source: Source, wanted: Format | None) -> Format | None:
    """Recognize a file's format by its beginning; None, counted, for a file to skip.

    Raises:
        ImportFailed: The only file is in no known format, or not in the `wanted` one.

    """
    sample = sample_of(file)
    form = next((each for each in FORMATS if each.matches(sample)), None)
    if form is None and source.is_single and sample.shape is not Shape.DATABASE:
        form = PLAIN
    if form is not None and wanted in (None, form):
        return form
    if source.is_single:
        is_other = (
            f"is {form.description}" if form is not None else "is a database of another program"
        )
        raise ImportFailed(f"{file.path} {is_other}.", EXPECTED if form is None else "Omit --from.")
    source.tally.skip("file without conversations" if form is None else "file in another format")
    return None


def picked(
    conversations: Iterator[IncomingConversation], pick: str, source: Source
) -> Iterator[IncomingConversation]:
    """Keep only the conversation whose id, key or title is `pick`.

    Raises:
        ImportFailed: There is none.

    """
    names, number, is_found = list[str](), 0, False
    for found in conversations:
        number += 1
        if pick in (found.id, found.origin.key, found.title):
            is_found = True
            yield found
        elif len(names) < _MOST_NAMES:
            names.append(found.id)
    if not is_found:
        more = f" and {number - _MOST_NAMES} more" if number > _MOST_NAMES else ""
        listed = f"It has {', '.join(names)}{more}." if names else EXPECTED
        raise ImportFailed(f"{source.path} has no conversation {pick!r}.", listed)


def left_out(found: Sequence[FileConversation]) -> str:
    """Describe what was left out of all conversations and why; empty if nothing was."""
    return listed(sum((Counter(each.skipped) for each in found), Counter()))


def listed(counts: Counter[str]) -> str:
    return ", ".join(plural(number, reason) for reason, number in sorted(counts.items()))


def store_found(store: ColdStore, found: FileConversation) -> Conversation:
    with store.database.write():
        made = store.create(found.title, found.id)
        store.append(made.id, found.turns)
        return store.conversation(made.id)
