"""`jitchat import`: conversations of other programs, and a report of what was taken."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from jitchat import models
from jitchat.cli import cold_store, options, output
from jitchat.errors import UsageError
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.index.indexer import Indexer
from jitchat.store.store import ColdStore
from jitchat.text.figures import plural
from jitchat.transfer.format import Format
from jitchat.transfer.formats import BY_NAME, conversations_of, listed, picked
from jitchat.transfer.import_run import Taken, nothing_of, require_turns, take_all, without_deleted
from jitchat.transfer.incoming import IncomingConversation, Tally
from jitchat.transfer.source import Source, open_source

_MOST_LINES = 20
"""Conversations that are reported one by one."""
_UNINDEXED = "what is not indexed yet is, when it is next used."


@click.command("import", cls=options.SharingCommand)
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--from",
    "program",
    type=click.Choice(list(BY_NAME)),
    metavar="NAME",
    help="Take only what this program wrote; without FILE, from where it keeps it. NAME is"
    f" {', '.join(list(BY_NAME)[:-1])} or {list(BY_NAME)[-1]}.",
)
@click.option("--pick", metavar="NAME", help="Take only this conversation.")
@click.option("--again", is_flag=True, help="Take also what was imported once and deleted here.")
@click.option("--no-vectors", is_flag=True, help="Index without vectors; they follow later.")
@click.option("--no-index", is_flag=True, help="Only store; what is opened is indexed then.")
@options.embedder_options
def import_command(
    flags: options.Flags,
    file: Path | None,
    **wanted: Any,  # noqa: ANN401  as click calls it
) -> None:
    """Import conversations from a file, a zip or a folder.

    FILE is an export of ChatGPT, Claude, Open WebUI, LibreChat, SillyTavern or Gemini (Takeout),
    the sessions of Claude Code, Codex or opencode, the logs.db of llm, jitchat's own JSON, LoCoMo's
    or a JSON or JSONL list of objects with role and content. Its content decides. What was imported
    before is not taken again, nor what was deleted here since.
    """
    settings, paths = flags.settings(), flags.paths()
    program, pick = BY_NAME.get(wanted["program"] or ""), wanted["pick"]
    source = open_source(file or _usual_place(program))
    found = conversations_of(source, program)
    found = require_turns(
        picked(found, pick, source) if pick is not None else found, source, program
    )
    without = wanted["no_vectors"] or wanted["no_index"]
    embedder = NoEmbedder() if without else models.make_embedder(settings, paths, output.warn)
    with cold_store.opened_store(paths) as store:
        wanted_now = found if wanted["again"] else without_deleted(store, found, source)
        taken = list(_taken(store, wanted_now, source))
        if not wanted["no_index"]:
            _index(store, [each for each in taken if each.added], embedder)


def _usual_place(program: Format | None) -> Path:
    if program is None or program.usual_place is None:
        kept = ", ".join(each.name for each in BY_NAME.values() if each.usual_place)
        raise UsageError("FILE is missing.", f"Name one, or use --from with {kept}.")
    place = program.usual_place(os.environ)
    if not place.exists():
        raise nothing_of(program, f"was found: there is no {place}")
    return place


def _taken(
    store: ColdStore, found: Iterator[IncomingConversation], source: Source
) -> Iterator[Taken]:
    """Store all, with a bar of the bytes that were read, and report of it."""
    report = _Report()
    with output.progress(f"{source.path.name}: importing", max(1, source.size)) as advance:
        seen = 0
        for taken in take_all(store, found, source):
            advance(source.bytes_read - seen)
            seen = source.bytes_read
            report.add(taken)
            yield taken
    report.print(source.tally)


class _Report:
    """What was taken: a line a conversation for a few, and the sum for many."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._counts: Counter[str] = Counter()
        self._tally = Tally()

    def add(self, taken: Taken) -> None:
        kind = "empty" if not taken.id else "known" if not taken.added else "taken"
        self._counts[kind] += 1
        self._counts["turns"] += taken.added
        self._tally.add(taken.tally)
        if len(self._lines) <= _MOST_LINES:
            self._lines.append(f"{taken.wanted_id}: {_sentence(taken)}")

    def print(self, of_files: Tally) -> None:
        if len(self._lines) <= _MOST_LINES:
            for line in self._lines:
                output.say(line)
            if of_files.skipped:
                output.say(f"left out: {listed(of_files.skipped)}")
            return
        self._tally.add(of_files)
        conversations = plural(self._counts["taken"], "conversation")
        parts = [f"{plural(self._counts['turns'], 'turn')} taken in {conversations}"]
        if known := self._counts["known"]:
            parts.append(f"{known:,} had nothing new")
        if empty := self._counts["empty"]:
            parts.append(f"{empty:,} had nothing to take")
        output.say("; ".join([*parts, *_left_out(self._tally)]))


def _sentence(taken: Taken) -> str:
    if not taken.id:
        parts = ["nothing to take"]
    elif not taken.added:
        parts = [f"nothing new; stored as {taken.id}"]
    elif taken.is_new:
        parts = [f"{plural(taken.added, 'turn')} taken as “{taken.title}”"]
        parts += [f"stored as {taken.id}"] if taken.id != taken.wanted_id else []
    else:
        parts = [f"{plural(taken.added, 'new turn')} added to {taken.id}"]
    return "; ".join([*parts, *_left_out(taken.tally)])


def _left_out(tally: Tally) -> Iterator[str]:
    yield f"left out: {listed(tally.skipped)}" if tally.skipped else "nothing left out"
    if tally.changed:
        yield f"taken with a change: {listed(tally.changed)}"


def _index(store: ColdStore, taken: list[Taken], embedder: Embedder) -> None:
    if not taken:
        return
    is_one = len(taken) == 1
    label = f"{taken[0].id}: indexing" if is_one else "indexing"
    failures = list[str]()
    with output.progress(label, sum(each.added for each in taken)) as advance:
        for each in taken:
            indexer = Indexer(store, each.id, embedder)
            try:
                for entries in indexer.catch_up():
                    advance(len(entries))
            except KeyboardInterrupt:
                what = f"{each.id} is stored" if is_one else "All of it is stored"
                output.say(f"{what}; {_UNINDEXED}", err=True)
                raise
            if indexer.failure:
                failures.append(f"{each.id} has no vectors yet: {indexer.failure}")
                embedder = NoEmbedder()  # it fails for the others, too
    for failure in failures:
        output.say(failure, err=True)
