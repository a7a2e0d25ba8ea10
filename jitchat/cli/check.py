"""`jitchat check`: whether the turns that replies once lacked are in the window now."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from jitchat.cli import cold_store
from jitchat.cli.options import Flags, SharingCommand, common_options
from jitchat.cli.output import columns, emit, painted, say, say_json
from jitchat.memory import Memory
from jitchat.models import make_embedder, resolve_model
from jitchat.regression_cases import CaseChecker, CaseResult
from jitchat.session import Session
from jitchat.store.regression_cases import Case, Cases
from jitchat.store.store import ColdStore
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten

NONE_YET = "No cases are noted yet. In the chat, Alt+W notes the turn that a reply lacked."
_HEADS = ("case", "message", "turn", "then", "now")
_WIDTH = 34
"""Characters of a message that are repeated."""


@click.command("check", cls=SharingCommand)
@click.option("--conversation", metavar="ID", help="Its cases only; those of all if not given.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def check_command(flags: Flags, conversation: str | None, as_json: bool) -> int:
    """Plan the window of each noted message anew, and look for the turn that it is to have.

    A message was noted in the chat, where a reply lacked a turn or rightly had it. Nothing is
    sent. The exit code is 1 where a turn is not there at full text.
    """
    found = list(_checked(Flags(conversation=conversation).over(flags)))
    if as_json:
        say_json({"cases": [_fields(checked) for checked in found], **_sums(found)})
    elif found:
        _print(found)
    else:
        say(NONE_YET)
    return 0 if all(checked.passes for checked in found) else 1


def _checked(flags: Flags) -> Iterator[CaseResult]:
    """Check the cases of the conversation that is named, else of every one that has any."""
    with cold_store.opened_store(flags.paths()) as store:
        wanted = store.conversation(flags.conversation).id if flags.conversation else None
        cases = Cases(store.database).of(wanted)
        if not cases:
            return
        for session, own in _sessions(flags, store, cases):
            yield from map(CaseChecker(session).check, own)


def _sessions(
    flags: Flags, store: ColdStore, cases: Sequence[Case]
) -> Iterator[tuple[Session, list[Case]]]:
    """Open a session on each conversation that has cases, with everything indexed."""
    paths = flags.paths()
    settings = cold_store.load_settings(flags)
    model, embedder = resolve_model(settings, store.database), make_embedder(settings, paths)
    for name in dict.fromkeys(case.conversation for case in cases):
        memory = Memory(store, store.conversation(name), embedder)
        session = model.open_session(memory, ask=True)
        list(session.memory.index.catch_up())
        yield session, [case for case in cases if case.conversation == name]


def _print(found: Sequence[CaseResult]) -> None:
    heading, *lines = columns([_HEADS, *map(_cells, found)])
    last = None
    for checked, line in zip(found, lines, strict=True):
        if checked.case.conversation != last:
            last = checked.case.conversation
            say(f"{last}\n  {heading}")
        mark, colour = ("✓", "green") if checked.passes else ("✗", "red")
        emit(f"{painted(mark, colour)} {painted(line, None)}")
        if not checked.passes:
            say(f"    {' '.join(checked.sentences)}")
    sums = _sums(found)
    say(f"{plural(len(found), 'case')}: {sums['found']:,} found, {sums['failed']:,} not.")


def _cells(checked: CaseResult) -> tuple[str, ...]:
    case = checked.case
    then = checked.then.value if checked.then is not None else "no window"
    now = checked.now.value if checked.now is not None else "no window"
    message = f"#{case.said.position} {shorten(case.said.content, _WIDTH)}"
    return f"{case.id} {case.kind}", message, f"#{case.wanted.position}", then, now


def _sums(found: Sequence[CaseResult]) -> dict[str, int]:
    passed = sum(checked.passes for checked in found)
    return {"found": passed, "failed": len(found) - passed}


def _fields(checked: CaseResult) -> Mapping[str, Any]:
    case = checked.case
    return {
        "case": case.id,
        "conversation": case.conversation,
        "kind": case.kind.value,
        "said": case.said.position,
        "text": case.said.content,
        "wanted": case.wanted.position,
        "noted_at": case.noted_at.isoformat(),
        "then": checked.then.value if checked.then is not None else None,
        "now": checked.now.value if checked.now is not None else None,
        "passes": checked.passes,
        "sentences": list(checked.sentences),
    }
