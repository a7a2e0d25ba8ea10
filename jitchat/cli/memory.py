"""`jitchat memory`: what is remembered of a project, listed, added, edited, forgotten, exported."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from jitchat.cli import cold_store, options, output
from jitchat.errors import UsageError
from jitchat.statements import Fact, FactState
from jitchat.store.facts import Change, FactStore
from jitchat.store.store import project_name
from jitchat.synthesis.facts import remembered
from jitchat.text.sanitize import shorten
from jitchat.values import DEFAULT_PROJECT

_SHOWN = 60
"""Characters of a fact where it is only named."""


@click.group("memory", cls=options.SharingGroup, invoke_without_command=True)
@options.in_project
@options.location_options
@click.pass_context
def memory_command(context: click.Context, flags: options.Flags) -> None:
    """List, add, edit, forget and export what is remembered of a project.

    Without a command, it is listed. A fact is named by its number or by its text.
    """
    context.obj = flags
    if context.invoked_subcommand is None:
        context.invoke(list_command)


@contextmanager
def _opened(flags: options.Flags) -> Iterator[FactStore]:
    """Open the facts of the project that is asked for."""
    project = project_name(flags.project) if flags.project is not None else DEFAULT_PROJECT
    with cold_store.opened_store(flags.paths()) as store:
        yield FactStore(store.database, project, store.now)


@memory_command.command("list")
@click.option("--all", "lists_all", is_flag=True, help="Those that no longer hold, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@options.in_project
@options.location_options
def list_command(flags: options.Flags, *, lists_all: bool = False, as_json: bool = False) -> None:
    """List the facts that hold, and those that are proposed, the oldest first."""
    with _opened(flags) as facts:
        found = [fact for fact in facts.all() if lists_all or _is_current(fact)]
    if as_json:
        output.say_json([fact_fields(fact) for fact in found])
    elif found:
        output.print_columns([_row(fact) for fact in found], right=(0,))
    else:
        output.say(
            f"Nothing is remembered of {facts.project}. `jitchat memory add TEXT` adds a fact."
        )


@memory_command.command("add")
@click.argument("text")
@options.in_project
@options.location_options
def add_command(flags: options.Flags, text: str) -> None:
    """Remember TEXT, a short statement.

    One that it contradicts holds no longer: 'Answer in French.' is not kept beside 'Answer in
    German.'. TEXT is `-` for what comes on standard input.
    """
    with _opened(flags) as facts:
        _tell(facts.keep(remembered(options.text_given(text))))


@memory_command.command("keep")
@click.argument("wanted", metavar="ID|TEXT")
@options.in_project
@options.location_options
def keep_command(flags: options.Flags, wanted: str) -> None:
    """Keep a fact that is proposed."""
    with _opened(flags) as facts:
        _tell(facts.keep(_one(facts, wanted)))


@memory_command.command("edit")
@click.argument("wanted", metavar="ID|TEXT")
@click.argument("text", metavar="NEW_TEXT")
@options.in_project
@options.location_options
def edit_command(flags: options.Flags, wanted: str, text: str) -> None:
    """Write a fact in other words; its source stays."""
    with _opened(flags) as facts:
        _tell(facts.edit(_one(facts, wanted), options.text_given(text)))


@memory_command.command("forget")
@click.argument("wanted", metavar="ID|TEXT")
@options.in_project
@options.location_options
def forget_command(flags: options.Flags, wanted: str) -> None:
    """Have no window carry a fact any more; it is not proposed again."""
    with _opened(flags) as facts:
        fact = facts.forget(_one(facts, wanted))
    output.say(f"forgotten: {fact.text}")


@memory_command.command("export")
@click.option("--json", "as_json", is_flag=True, help="As JSON, with what no longer holds.")
@options.in_project
@options.location_options
def export_command(flags: options.Flags, *, as_json: bool) -> None:
    """Print the facts that hold as Markdown, with their days and sources."""
    with _opened(flags) as facts:
        known = facts.all()
    if as_json:
        output.say_json({"project": facts.project, "facts": [fact_fields(each) for each in known]})
        return
    output.say(f"# {facts.project}")
    for kind in dict.fromkeys(fact.kind for fact in known if fact.holds):
        output.say(f"\n## {kind.capitalize()}\n")
        for fact in known:
            if fact.holds and fact.kind is kind:
                output.say(
                    f"- {fact.text} ({', '.join(filter(None, (_day(fact), _origin(fact))))})"
                )


def fact_fields(fact: Fact) -> dict[str, Any]:
    """Describe a fact as JSON has it."""
    source = fact.source
    return {
        "id": fact.id,
        "text": fact.text,
        "kind": fact.kind.value,
        "state": fact.state.value,
        "stated_on": _day(fact) or None,
        "valid_until": fact.valid_until.isoformat() if fact.valid_until else None,
        "superseded_by": fact.superseded_by,
        "conversation": source.conversation if source is not None else None,
        "turn": source.first if source is not None else None,
    }


def _is_current(fact: Fact) -> bool:
    return fact.is_valid and fact.state is not FactState.FORGOTTEN


def _one(facts: FactStore, wanted: str) -> Fact:
    """Find the one fact that is meant.

    Raises:
        UsageError: There is none, or there are several.

    """
    found = facts.find(wanted)
    if len(found) == 1:
        return found[0]
    named = shorten(wanted, _SHOWN)
    if not found:
        raise UsageError(
            f"Nothing that is remembered of {facts.project} is {named!r}.",
            "`jitchat memory list` lists the facts.",
        )
    numbers = ", ".join(str(fact.id) for fact in found)
    raise UsageError(f"{named!r} fits {len(found)} facts: {numbers}.", "Give one of the numbers.")


def _tell(change: Change) -> None:
    output.say(f"remembered as {change.kept.id}, {change.kept.kind}: {change.kept.text}")
    for fact in change.superseded:
        output.say(f"in place of {fact.id}: {fact.text}")


def _row(fact: Fact) -> tuple[str, ...]:
    return (
        str(fact.id), fact.state.value, fact.kind.value, _day(fact), validity(fact), _origin(fact),
        fact.text,
    )  # fmt: skip


def _day(fact: Fact) -> str:
    return fact.stated_on.isoformat() if fact.stated_on is not None else ""


def validity(fact: Fact) -> str:
    """`holds`, or `until 2026-03-09, then 4`."""
    if fact.valid_until is None:
        return "holds" if fact.holds else "—"
    behind = f", then {fact.superseded_by}" if fact.superseded_by else ""
    return f"until {fact.valid_until}{behind}"


def _origin(fact: Fact) -> str:
    return fact.source.name if fact.source is not None else "typed"
