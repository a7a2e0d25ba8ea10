"""Parts of files that match a request to the store and are not in the window yet."""

from collections.abc import Collection

from jitchat.memory import Memory
from jitchat.window.files import FileSources, part_ref
from jitchat.window.window import ContextWindow


def parts_not_shown(
    memory: Memory, query: str, window: ContextWindow, kept_out: Collection[int]
) -> FileSources:
    """Search the files of the window's conversation, except those of turns in `kept_out`."""
    position = window.draft.turn or 0
    shown = {each.file for each in window.segments if each.file is not None}
    whole = {ref.digest for ref in shown if ref.is_whole}
    files = tuple(
        file
        for file in memory.files
        if file.turn <= position and file.turn not in kept_out and file.digest not in whole
    )
    known = {file.digest: file for file in files}
    hits = (
        hit
        for hit in memory.part_hits(query, position + 1, files, kept_out)
        if part_ref(known[hit.digest], hit.part) not in shown
    )
    return FileSources(files, tuple(hits))
