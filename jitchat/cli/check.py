"""`jitchat check`: whether the turns that replies once lacked are in the window now."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from jitchat.cli import compose
from jitchat.cli.chosen import chosen_in_the_app
from jitchat.cli.compose import session_with
from jitchat.cli.opening import opened_store
from jitchat.cli.options import Flags, SharingCommand, common_options
from jitchat.cli.output import emit, painted, say, say_json
from jitchat.cli.who import who_answers
from jitchat.memory import Memory
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
        say_json({"cases": [_fields(each) for each in found], **_sums(found)})
    elif found:
        _print(found)
    else:
        say(NONE_YET)
    return 0 if all(each.passes for each in found) else 1


def _checked(flags: Flags) -> Iterator[CaseResult]:
    """Check the cases of the conversation that is named, else of every one that has any."""
    with opened_store(flags.paths()) as store:
        wanted = store.conversation(flags.conversation).id if flags.conversation else None
        cases = Cases(store.database).of(wanted)
        if not cases:
            return
        for session, own in _sessions(flags, store, cases):
            yield from CaseChecker(session).all(own)


def _sessions(
    flags: Flags, store: ColdStore, cases: Sequence[Case]
) -> Iterator[tuple[Session, list[Case]]]:
    """Open a session on each conversation that has cases, with everything indexed."""
    paths = flags.paths()
    settings = flags.settings(chosen_in_the_app(paths.database))
    who, embedder = who_answers(settings, store.database), compose.make_embedder(settings, paths)
    for name in dict.fromkeys(case.conversation for case in cases):
        memory = Memory(store, store.conversation(name), embedder)
        session = session_with(who, memory, asking=True)
        list(session.memory.catch_up())
        yield session, [case for case in cases if case.conversation == name]


def _print(found: Sequence[CaseResult]) -> None:
    """Print a line a case, why one fails beneath it, and the sum."""
    rows = [_cells(each) for each in found]
    widths = [max(map(len, column)) for column in zip(_HEADS, *rows, strict=True)]
    last = None
    for each, cells in zip(found, rows, strict=True):
        if each.case.conversation != last:
            last = each.case.conversation
            say(f"{last}\n  {_line(_HEADS, widths)}")
        mark, colour = ("✓", "green") if each.passes else ("✗", "red")
        emit(f"{painted(mark, colour)} {painted(_line(cells, widths), None)}")
        if not each.passes:
            say(f"    {' '.join(each.sentences)}")
    sums = _sums(found)
    say(f"{_counted(len(found))}: {sums['found']:,} found, {sums['failed']:,} not.")


def _cells(each: CaseResult) -> tuple[str, ...]:
    case = each.case
    then = each.then.value if each.then is not None else "no window"
    now = each.now.value if each.now is not None else "no window"
    message = f"#{case.said.position} {shorten(case.said.content, _WIDTH)}"
    return f"{case.id} {case.kind}", message, f"#{case.wanted.position}", then, now


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()


def _counted(cases: int) -> str:
    return plural(cases, "case")


def _sums(found: Sequence[CaseResult]) -> dict[str, int]:
    passed = sum(each.passes for each in found)
    return {"found": passed, "failed": len(found) - passed}


def _fields(each: CaseResult) -> Mapping[str, Any]:
    case = each.case
    return {
        "case": case.id,
        "conversation": case.conversation,
        "kind": case.kind.value,
        "said": case.said.position,
        "text": case.said.content,
        "wanted": case.wanted.position,
        "noted_at": case.noted_at.isoformat(),
        "then": each.then.value if each.then is not None else None,
        "now": each.now.value if each.now is not None else None,
        "passes": each.passes,
        "sentences": list(each.sentences),
    }
