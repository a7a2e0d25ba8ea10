"""`jitchat memory`: list, add, edit, forget and export a project's facts."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from jitchat.cli import cold_store, options, output
from jitchat.errors import UsageError
from jitchat.statements import Fact, FactState
from jitchat.store.facts import Change, FactStore
from jitchat.store.store import project_name
from jitchat.synthesis.extraction import remembered
from jitchat.text.sanitize import shorten
from jitchat.values import DEFAULT_PROJECT

_SHOWN = 60
"""Maximum characters of a fact quoted in an error."""
_NAMES = (
    "id text kind state stated_on valid_until superseded_by conversation=source.conversation"
    " turn=source.first"
)
"""What JSON has of a fact."""


_IN_PROJECT = options.project_option(f"Project of the facts (default: {DEFAULT_PROJECT}).")


@click.group("memory", cls=options.ListingGroup)
@_IN_PROJECT
@options.location_options
def memory_command(**_: object) -> None:
    """List, add, edit, forget and export a project's facts.

    Facts are short statements that are included in windows: standing instructions in every one,
    others when they match the message. Without a command, the facts are listed. Refer to a fact by
    its number or by its text.
    """


@contextmanager
def _opened(flags: options.Flags) -> Iterator[FactStore]:
    """Open the facts of the chosen project."""
    project = project_name(flags.project) if flags.project is not None else DEFAULT_PROJECT
    with cold_store.opened_store(flags.paths()) as store:
        yield FactStore(store.database, project, store.now)


@memory_command.command("list")
@options.flag("--all", "Include facts that are no longer valid.", name="lists_all")
@_IN_PROJECT
def list_command(flags: options.Flags, *, lists_all: bool = False, as_json: bool = False) -> None:
    """List valid and proposed facts, oldest first."""
    with _opened(flags) as facts:
        found = [fact for fact in facts.all() if lists_all or _is_current(fact)]
    none = f"No facts in project {facts.project} yet. `jitchat memory add TEXT` adds one."
    output.print_records(found, _NAMES, _row, as_json=as_json, right=(0,), none=none)


@memory_command.command("add")
@click.argument("text")
@_IN_PROJECT
def add_command(flags: options.Flags, text: str) -> None:
    """Remember TEXT, a short statement, as a fact.

    A fact that TEXT contradicts is replaced: 'Answer in French.' replaces 'Answer in German.'. Use
    - to read TEXT from standard input.
    """
    with _opened(flags) as facts:
        _print_change(facts.keep(remembered(options.text_given(text))))


@memory_command.command("keep")
@click.argument("wanted", metavar="ID|TEXT")
@_IN_PROJECT
def keep_command(flags: options.Flags, wanted: str) -> None:
    """Keep a proposed fact."""
    with _opened(flags) as facts:
        _print_change(facts.keep(_one(facts, wanted)))


@memory_command.command("edit")
@click.argument("wanted", metavar="ID|TEXT")
@click.argument("text", metavar="NEW_TEXT")
@_IN_PROJECT
def edit_command(flags: options.Flags, wanted: str, text: str) -> None:
    """Change the text of a fact; its source is kept."""
    with _opened(flags) as facts:
        _print_change(facts.edit(_one(facts, wanted), options.text_given(text)))


@memory_command.command("forget")
@click.argument("wanted", metavar="ID|TEXT")
@_IN_PROJECT
def forget_command(flags: options.Flags, wanted: str) -> None:
    """Stop including a fact in windows; it is not proposed again."""
    with _opened(flags) as facts:
        fact = facts.forget(_one(facts, wanted))
    output.say(f"forgotten: {fact.text}")


@memory_command.command("export")
@options.flag("--json", "Print JSON, including facts that are no longer valid.", name="as_json")
@_IN_PROJECT
def export_command(flags: options.Flags, *, as_json: bool) -> None:
    """Print the valid facts as Markdown, with their dates and sources."""
    with _opened(flags) as facts:
        known = facts.all()
    if as_json:
        listed = [output.json_fields(fact, _NAMES) for fact in known]
        output.say_json({"project": facts.project, "facts": listed})
        return
    output.say(f"# {facts.project}")
    for kind in dict.fromkeys(fact.kind for fact in known if fact.holds):
        output.say(f"\n## {kind.capitalize()}\n")
        for fact in known:
            if fact.holds and fact.kind is kind:
                output.say(
                    f"- {fact.text} ({', '.join(filter(None, (_day(fact), _origin(fact))))})"
                )


def _is_current(fact: Fact) -> bool:
    return fact.is_valid and fact.state is not FactState.FORGOTTEN


def _one(facts: FactStore, wanted: str) -> Fact:
    """Find the one fact that matches.

    Raises:
        UsageError: None matches, or several do.

    """
    found = facts.find(wanted)
    if len(found) == 1:
        return found[0]
    named = shorten(wanted, _SHOWN)
    if not found:
        raise UsageError(
            f"No fact in project {facts.project} matches {named!r}.",
            "`jitchat memory list` lists the facts.",
        )
    numbers = ", ".join(str(fact.id) for fact in found)
    raise UsageError(
        f"{named!r} matches {len(found)} facts: {numbers}.", "Give one of the numbers."
    )


def _print_change(change: Change) -> None:
    output.say(f"remembered as {change.kept.id}, {change.kept.kind}: {change.kept.text}")
    for fact in change.superseded:
        output.say(f"replaces {fact.id}: {fact.text}")


def _row(fact: Fact) -> tuple[str, ...]:
    return (
        str(fact.id), fact.state.value, fact.kind.value, _day(fact), validity(fact), _origin(fact),
        fact.text,
    )  # fmt: skip


def _day(fact: Fact) -> str:
    return fact.stated_on.isoformat() if fact.stated_on is not None else ""


def validity(fact: Fact) -> str:
    """Return `valid`, or `until 2026-03-09, then 4` for a fact replaced by fact 4."""
    if fact.valid_until is None:
        return "valid" if fact.holds else "—"
    successor = f", then {fact.superseded_by}" if fact.superseded_by else ""
    return f"until {fact.valid_until}{successor}"


def _origin(fact: Fact) -> str:
    return fact.source.name if fact.source is not None else "typed"
