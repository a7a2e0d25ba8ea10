"""Conversations as one self-contained HTML page, without scripts or external resources.

Below each message are the windows that were sent for it, as collapsible blocks: their segments with
tokens and reasons, and the text of segments that are not turns on the page. Foreign text is
escaped.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files

from jitchat.attachments import Attachment
from jitchat.replay import window_of
from jitchat.store.attachments import whole
from jitchat.store.store import ColdStore
from jitchat.store.windows import Send
from jitchat.text.markdown.html import html_of
from jitchat.text.sanitize import one_line
from jitchat.transfer import export
from jitchat.values import Conversation, Role
from jitchat.window.window import Segment

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_INLINE = 1 << 20
"""Bytes; larger pictures are named, not embedded."""


def write_html(
    store: ColdStore, conversations: Sequence[Conversation], write: export.Write
) -> None:
    titles = ", ".join(one_line(each.title) for each in conversations[:3])
    title = titles + (" …" if len(conversations) > 3 else "")
    style = (files("jitchat.transfer") / "html_page.css").read_text(encoding="utf-8")
    write(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{_safe(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
    )
    for number, conversation in enumerate(conversations, start=1):
        _write_conversation(store, conversation, f"c{number}", write)
    write("</body>\n</html>\n")


def _write_conversation(
    store: ColdStore, conversation: Conversation, anchor: str, write: export.Write
) -> None:
    title, what = one_line(conversation.title), export.about(store, conversation)
    write(f"<section>\n<h1>{_safe(title)}</h1>\n<p>{_safe(what)}</p>\n")
    if system := export.own_instructions(store, conversation):
        write(_folded("Instructions for this conversation", system))
    sends, pictures = export.sends_by_turn(store, conversation.id), 0
    for exported in export.path_turns(store, conversation.id):
        for piece in _turn(exported, anchor):
            write(piece)
        for file in exported.files:
            pictures += _is_large(file)
            write(_file(store, file))
        for send in sends.get(exported.turn.position, ()):
            contents = {exported.turn.position: exported.turn.content}
            for piece in _window(store, conversation.id, send, anchor, contents):
                write(piece)
        write("</article>\n")
    write(f"<p>{_safe(export.left_out([(pictures, 'large picture')]))}</p>\n</section>\n")


def _safe(text: str) -> str:
    """Escape a text; a browser would read a carriage return as a line feed."""
    return escape(text).replace("\r", "&#13;")


def _preformatted(text: str) -> str:
    """Write a block; browsers skip a line feed at its beginning."""
    skipped = "\n" if text.startswith("\n") else ""
    return f"<pre>{skipped}{_safe(text)}</pre>"


def _turn(exported: export.ExportedTurn, anchor: str) -> Iterator[str]:
    turn, head = exported.turn, _safe(export.heading(exported))
    yield f'<article id="{anchor}-{turn.position}" class="{turn.role.value}">\n<h2>{head}</h2>\n'
    if exported.note.reasoning:
        yield _folded("Reasoning", exported.note.reasoning)
    if turn.content and turn.role is Role.ASSISTANT:
        yield f'<div class="reply">\n{html_of(turn.content)}</div>\n'
    elif turn.content:
        yield f"{_preformatted(turn.content)}\n"
    for call in turn.use.calls:
        yield _folded(f"Calls {one_line(call.name)}", call.arguments)


def _is_large(file: Attachment) -> bool:
    return file.picture is not None and file.size > _INLINE


def _file(store: ColdStore, listed: Attachment) -> str:
    """Render an attachment: text as a collapsible block, small pictures embedded."""
    file = listed if _is_large(listed) else whole(store.database, listed)
    if file.text:
        return _folded(f"Attached: {export.file_title(file)}", file.text)
    title = _safe(export.file_title(file))
    if file.picture is None or not file.picture.data:
        return f"<p>Attached: {title}</p>\n"
    data = b64encode(file.picture.data).decode()
    source = f"data:{_safe(file.media_type)};base64,{data}"
    return f'<figure><img alt="{title}" src="{source}"><figcaption>{title}</figcaption></figure>\n'


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{_safe(title)}</summary>{_preformatted(text)}</details>\n"


def _window(
    store: ColdStore, conversation: str, send: Send, anchor: str, contents: Mapping[int, str]
) -> Iterator[str]:
    """Render one window; a segment that is an unchanged turn only links to the turn."""
    window = window_of(store.database, send.window_id)
    positions = sorted({each.turn for each in window.segments if each.turn})
    found = store.turns_at(conversation, [p for p in positions if p not in contents])
    known = {**contents, **{turn.position: turn.content for turn in found}}
    budget = send.limit - send.reserve
    head = f"Window: {send.mode.value}, {send.used:,} of {budget:,} tokens, {send.model}"
    yield f"<details><summary>{_safe(head)}</summary>\n<table>\n"
    yield '<tr><th>kind</th><th>turn</th><th class="tokens">tokens</th><th>why</th></tr>\n'
    for segment in window.segments:
        yield _segment(segment, anchor, known)
    yield "</table></details>\n"


def _segment(segment: Segment, anchor: str, known: Mapping[int, str]) -> str:
    turn, text = segment.turn or 0, segment.text
    place = f'<a href="#{anchor}-{turn}">#{turn}</a>' if turn else ""
    is_whole = turn in known and known[turn] == text
    shown = "" if is_whole else f"<details><summary>text</summary>{_preformatted(text)}</details>"
    return (
        f"<tr><td>{segment.kind.value}</td><td>{place}</td>"
        f'<td class="tokens">{segment.tokens:,}</td><td>{_safe(segment.reason)}{shown}</td></tr>\n'
    )


HTML_PAGE = export.ExportFormat(
    "html", "one page, with the windows as collapsible blocks", write_html
)
