"""`jitchat check`: whether the turns that replies were missing are in the window now."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import click

from jitchat.cli import cold_store, options, output
from jitchat.memory import Memory
from jitchat.models import make_embedder, resolve_model
from jitchat.regression_cases import CaseChecker, CaseResult
from jitchat.store.regression_cases import Cases
from jitchat.text import figures, sanitize

NONE_YET = "No cases yet. In the chat, /wrong notes the turn that a reply was missing."
_HEADS = ("case", "message", "turn", "then", "now")
_WIDTH = 34
"""Maximum characters of a message in the output."""


@click.command("check", cls=options.SharingCommand)
@options.conversation_option("Check only this conversation's cases (default: all cases).")
@options.common_options
def check_command(flags: options.Flags, as_json: bool) -> int:
    """Re-plan every noted message and check that its turn is found.

    A message is noted in the chat, because its reply was missing a turn or correctly had it. Its
    window is planned as it would be now; nothing is sent. The exit code is 1 if a turn is in its
    window neither whole nor as an excerpt.
    """
    found = list(_checked(flags))
    fields = {"cases": [_fields(checked) for checked in found], **_sums(found)}
    output.tell(fields, partial(_print, found) if found else NONE_YET, as_json=as_json)
    return 0 if all(checked.passes for checked in found) else 1


def _checked(flags: options.Flags) -> Iterator[CaseResult]:
    paths = flags.paths()
    with cold_store.opened_store(paths) as store:
        wanted = store.conversation(flags.conversation).id if flags.conversation else None
        cases = Cases(store.database).of(wanted)
        if not cases:
            return
        settings = cold_store.load_settings(flags)
        model, embedder = resolve_model(settings, store.database), make_embedder(settings, paths)
        for name in dict.fromkeys(case.conversation for case in cases):
            session = model.open_session(
                Memory(store, store.conversation(name), embedder), ask=True
            )
            list(session.memory.index.catch_up())
            own = [case for case in cases if case.conversation == name]
            yield from map(CaseChecker(session).check, own)


def _print(found: Sequence[CaseResult]) -> None:
    heading, *lines = output.columns([_HEADS, *map(_cells, found)])
    last = None
    for checked, line in zip(found, lines, strict=True):
        if checked.case.conversation != last:
            last = checked.case.conversation
            output.say(f"{last}\n  {heading}")
        output.print_check(line, passes=checked.passes)
        if not checked.passes:
            output.say(f"    {' '.join(checked.sentences)}")
    cases = figures.plural(len(found), "case")
    sums = _sums(found)
    output.say(f"{cases}: {sums['found']:,} found, {sums['failed']:,} not found.")


def _cells(checked: CaseResult) -> tuple[str, ...]:
    case = checked.case
    then = checked.then.value if checked.then is not None else "no window"
    now = checked.now.value if checked.now is not None else "no window"
    message = f"#{case.said.position} {sanitize.shorten(case.said.content, _WIDTH)}"
    return f"{case.id} {case.kind}", message, f"#{case.wanted.position}", then, now


def _sums(found: Sequence[CaseResult]) -> dict[str, int]:
    passed = sum(checked.passes for checked in found)
    return {"found": passed, "failed": len(found) - passed}


def _fields(checked: CaseResult) -> Mapping[str, Any]:
    names = "conversation kind said=said.position text=said.content wanted=wanted.position noted_at"
    return {
        **output.json_fields(checked.case, f"case=id {names}"),
        **output.json_fields(checked, "then now passes sentences"),
    }
