"""`jitchat import`: import other programs' conversations, and report the result."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from jitchat import models
from jitchat.cli import cold_store, options, output
from jitchat.errors import UsageError
from jitchat.index.embedder import Embedder, NoEmbedder
from jitchat.index.indexer import Indexer
from jitchat.paths import is_missing
from jitchat.store.database import Database
from jitchat.store.store import ColdStore
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.transfer.census import Place
from jitchat.transfer.format import Format
from jitchat.transfer.formats import BY_NAME, conversations_of, listed, picked
from jitchat.transfer.import_run import Taken, nothing_of, require_turns, take_all, without_deleted
from jitchat.transfer.incoming import IncomingConversation, Tally
from jitchat.transfer.source import Source, open_source

_MOST_LINES = 20
"""Maximum conversations reported one by one."""
_EXAMPLES = 20
"""Texts that are nowhere, shown at most."""
_WIDTH = 60
"""Characters shown of a text."""
_UNINDEXED = "turns not indexed yet are indexed when they are next used."


@click.command("import", cls=options.SharingCommand)
@click.argument("file", type=options.PATH, required=False)
@options.flag(
    "--from NAME",
    "Import only what this program wrote; without FILE, from the program's own folder. NAME is"
    f" {', '.join(list(BY_NAME)[:-1])} or {list(BY_NAME)[-1]}.",
    name="program",
    type=click.Choice(list(BY_NAME)),
)
@options.flag("--pick NAME", "Import only this conversation.")
@options.flag("--again", "Also import what was imported before and then deleted.")
@options.flag("--no-vectors", "Index without vectors; they are added later.")
@options.flag("--no-index", "Do not index now; conversations are indexed when opened.")
@options.flag("--check", "Import nothing; show where each text would be.")
@options.embedder_options
def import_command(
    flags: options.Flags,
    file: Path | None,
    **wanted: Any,  # noqa: ANN401  as click calls it
) -> None:
    """Import conversations from a file, a zip or a folder.

    FILE is an export of ChatGPT, Claude, Open WebUI, LibreChat, SillyTavern or Gemini (Takeout),
    the sessions of Claude Code, Codex or opencode, llm's logs.db, jitchat's own JSON, LoCoMo's
    JSON, or a JSON or JSONL list of objects with role and content. The format is detected from the
    content. Conversations that were imported before are skipped, even if you have deleted them.
    """
    settings, paths = flags.settings(), flags.paths()
    program, pick = BY_NAME.get(wanted["program"] or ""), wanted["pick"]
    source = open_source(file or _usual_place(program))
    found = conversations_of(source, program)
    found = require_turns(
        picked(found, pick, source) if pick is not None else found, source, program
    )
    if wanted["check"]:
        _check(found, source)
        return
    without = wanted["no_vectors"] or wanted["no_index"]
    embedder = NoEmbedder() if without else models.make_embedder(settings, paths, output.warn)
    with cold_store.opened_store(paths) as store:
        wanted_now = found if wanted["again"] else without_deleted(store, found, source)
        taken = _take(store, wanted_now, source)
        if not wanted["no_index"]:
            _index(store, [each for each in taken if each.added or each.changed], embedder)


def _usual_place(program: Format | None) -> Path:
    if program is None or program.usual_place is None:
        programs = ", ".join(each.name for each in BY_NAME.values() if each.usual_place)
        raise UsageError("FILE is missing.", f"Give one, or use --from with {programs}.")
    place = program.usual_place(os.environ)
    if is_missing(place):
        raise nothing_of(program, f"was found: {place} does not exist")
    return place


def _check(found: Iterator[IncomingConversation], source: Source) -> None:
    """Import into a temporary database, and print the census; exit with 1 if a text is nowhere."""
    output.say("Imported into a temporary database, and compared:")
    with (
        tempfile.TemporaryDirectory(prefix="jitchat-") as folder,
        closing(Database(Path(folder) / "check.db")) as database,
    ):
        taken = _take(ColdStore(database), found, source)
    if not _print_census(taken):
        raise SystemExit(1)


def _print_census(taken: Sequence[Taken]) -> bool:
    """Print where the texts of conversations are; return whether every text is accounted for."""
    counts = Counter[tuple[str, Place]]()
    reasons = dict[str, str]()
    for conversation in taken:
        counts.update(conversation.census.counts)
        reasons |= conversation.census.rules.excluded
    keys = sorted({key for key, _ in counts})
    output.say(" ".join(("texts", *Place)))
    for key in keys:
        total = sum(counts[key, place] for place in Place)
        cells = [f"{counts[key, place] or '':>{len(place)}}" for place in Place]
        reason = f"({reasons[key]})" if key in reasons else ""
        output.say(" ".join((f"{total:>5}", *cells, key, reason)).rstrip())
    examples = [example for conversation in taken for example in conversation.census.examples]
    for key, text in list(dict.fromkeys(examples))[:_EXAMPLES]:
        output.say(f"nowhere: {key}: {shorten(text, _WIDTH)}")
    lost = sum(counts[key, Place.NOWHERE] for key in keys)
    sentence = f"{plural(lost, 'text')} would not be imported: the keys are not known."
    output.say(sentence if lost else "Every text is accounted for.")
    return not lost


def _take(store: ColdStore, found: Iterator[IncomingConversation], source: Source) -> list[Taken]:
    """Store all conversations, showing a progress bar of the bytes read, and print a report."""
    every = []
    seen = 0
    with output.progress(f"{source.path.name}: importing", max(1, source.size)) as advance:
        for taken in take_all(store, found, source):
            advance(source.bytes_read - seen)
            seen = source.bytes_read
            every.append(taken)
    for line in _report(every, source.tally):
        output.say(line)
    return every


def _report(every: Sequence[Taken], of_files: Tally) -> Iterator[str]:
    """Say what was imported: one line per conversation if there are few, else a summary."""
    if len(every) <= _MOST_LINES:
        for taken in every:
            yield f"{taken.wanted_id}: {_sentence(taken)}"
        if of_files.skipped:
            yield f"left out: {listed(of_files.skipped)}"
        return
    total = Tally()
    for tally in (*(taken.tally for taken in every), of_files):
        total.add(tally)
    stored = [taken for taken in every if taken.id]
    news = [taken for taken in stored if taken.added or taken.changed]
    turns = plural(sum(taken.added for taken in every), "turn")
    parts = [f"{turns} imported in {plural(len(news), 'conversation')}"]
    if known := len(stored) - len(news):
        parts.append(f"{known:,} had nothing new")
    if empty := len(every) - len(stored):
        parts.append(f"{empty:,} had nothing to import")
    yield "; ".join([*parts, *_left_out(total)])


def _sentence(taken: Taken) -> str:
    if not taken.id:
        parts = ["nothing to import"]
    elif not (taken.added or taken.changed):
        parts = [f"nothing new; stored as {taken.id}"]
    elif taken.is_new:
        parts = [f"{plural(taken.added, 'turn')} imported as “{taken.title}”"]
        parts += [f"stored as {taken.id}"] if taken.id != taken.wanted_id else []
    else:
        parts = [f"{plural(taken.added, 'new turn')} added to {taken.id}"] if taken.added else []
        updated = f"{plural(taken.changed, 'turn')} of {taken.id} brought up to date"
        parts += [updated] if taken.changed else []
    return "; ".join([*parts, *_left_out(taken.tally)])


def _left_out(tally: Tally) -> Iterator[str]:
    yield f"left out: {listed(tally.skipped)}" if tally.skipped else "nothing left out"
    if tally.changed:
        yield f"imported with changes: {listed(tally.changed)}"


def _index(store: ColdStore, taken: list[Taken], embedder: Embedder) -> None:
    if not taken:
        return
    is_one = len(taken) == 1
    label = f"{taken[0].id}: indexing" if is_one else "indexing"
    failures = list[str]()
    with output.progress(label, sum(each.added + each.changed for each in taken)) as advance:
        for each in taken:
            indexer = Indexer(store, each.id, embedder)
            try:
                for entries in indexer.catch_up():
                    advance(len(entries))
            except KeyboardInterrupt:
                what = f"{each.id} is stored" if is_one else "Everything is stored"
                output.say(f"{what}; {_UNINDEXED}", err=True)
                raise
            if indexer.failure:
                failures.append(f"{each.id} has no vectors yet: {indexer.failure}")
                embedder = NoEmbedder()  # it would fail for the others, too
    for failure in failures:
        output.say(failure, err=True)
