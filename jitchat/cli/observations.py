"""`jitchat observations`: the lines that replace a conversation's older turns in `observe`."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from typing import Any

import click

from jitchat.cli import options, output, shell_values
from jitchat.cli.turns import opened_session
from jitchat.errors import UnknownTurn, UsageError
from jitchat.session import Session
from jitchat.statements import Observation, Source
from jitchat.synthesis.passes import PassReport, reports_of, saving_sentence
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.window.statements import observation_text

_NONE = (
    "{conversation} has no observations yet. `jitchat observations --run` observes its turns;"
    " `jitchat send --mode observe` does so automatically when they fill their share of the window."
)
_SHOWN = 100
"""Maximum characters of a dropped statement."""


@click.command("observations", cls=options.SharingCommand)
@click.argument("conversation", required=False, shell_complete=shell_values.CONVERSATIONS)
@options.flag("--run", "Observe every turn except the last exchange.")
@options.flag("--undo", "Undo the last pass.")
@options.flag("--reset", "Discard all observations; the turns are kept.")
@options.flag(
    "--edit N TEXT",
    "Replace line N with TEXT; an empty TEXT removes the line.",
    type=(click.IntRange(min=1), str),
)
@options.flag("--json", "Print everything as JSON.", name="as_json")
@options.model_options
def observations_command(flags: options.Flags, **wanted: Any) -> None:  # noqa: ANN401  as click calls it
    """Show the observations of CONVERSATION and their source turns.

    The default is the most recent conversation. The observations are followed by the passes that
    made them, and by what the last pass dropped, turn by turn. Nothing is deleted: undone passes
    are only hidden, and the turns themselves are always kept.
    """
    chosen = [name for name in ("run", "undo", "reset", "edit") if wanted[name]]
    if len(chosen) > 1:
        named = " and ".join(f"--{name}" for name in chosen)
        raise UsageError(f"{named} cannot be combined.", "Give one of them.")
    with opened_session(flags, sends=wanted["run"]) as (session, _, _):
        notices = _change(session, wanted)
        text = "\n".join((*notices, *_lines(session)))
        output.tell(_fields(session), text, as_json=wanted["as_json"])


def _change(session: Session, wanted: dict[str, Any]) -> Sequence[str]:
    observing = session.observing
    if wanted["run"]:
        return asyncio.run(_run(session))
    if wanted["undo"]:
        made = observing.undo()
        if made is None:
            return ["There is no pass to undo."]
        return [f"Undone: {PassReport(made).sentence}."]
    if wanted["reset"]:
        observing.reset()
    if wanted["edit"]:
        number, text = wanted["edit"]
        if observing.edit(number - 1, text) is None:
            raise UnknownTurn(
                f"--edit: there is no line {number}.", "`jitchat observations` shows the numbers."
            )
    return []


async def _run(session: Session) -> list[str]:
    limit = session.options.budget.limit
    try:
        async with aclosing(session.observing.run(limit, everything=True)) as passes:
            notices = [f"{PassReport(made.made).sentence}." async for made in passes]
    finally:
        await session.aclose()
    return notices or ["Everything except the last exchange is observed already."]


def _reports(session: Session) -> list[PassReport]:
    return reports_of(session.observing.passes(), session.memory.turns)


def _lines(session: Session) -> Iterator[str]:
    standing, conversation = session.observing.standing(), session.memory.conversation.id
    observations = standing.observations
    if not observations.lines:
        yield _NONE.format(conversation=conversation)
        return
    reports = _reports(session)
    before = standing.history.total - standing.raw
    saving = saving_sentence(before, standing.observed, session.options.prices)
    lines = plural(len(observations.lines), "line")
    yield f"{conversation}: {lines} for #1–#{observations.through}"
    yield f"{saving}; {standing.raw:,} tokens are not observed yet"
    number = 0
    for line in observation_text(observations).splitlines():
        is_line = line.startswith("- ")
        number += is_line
        yield f"{number:>4} {line.removeprefix('- ')}" if is_line else line
    yield "passes:"
    for report in reports:
        gone = f"; {report.dropped_sentence}" if report.dropped_sentence else ""
        yield f"  {report.sentence}{gone}"
    yield from _dropped(reports[-1])


def _dropped(report: PassReport) -> Iterator[str]:
    if report.dropped or report.lost:
        yield "dropped by the last pass (the turns are kept; request_context finds them):"
    for each in report.dropped:
        for sentence in each.sentences:
            yield f"  #{each.turn}  {shorten(sentence, _SHOWN)}"
        if each.items:
            yield f"  #{each.turn}  names: {', '.join(each.items)}"
    for line in report.lost:
        yield f"  {line.source.name}  {shorten(line.text, _SHOWN)}"


def _fields(session: Session) -> dict[str, Any]:
    standing = session.observing.standing()
    lines = enumerate(standing.observations.lines, start=1)
    names = "through=observations.through tokens=observed tokens_not_observed=raw"
    return {
        "conversation": session.memory.conversation.id,
        **output.json_fields(standing, names),
        "tokens_of_turns": standing.history.total - standing.raw,
        "lines": [_line_fields(number, line) for number, line in lines],
        "passes": [_pass_fields(report) for report in _reports(session)],
    }


def _line_fields(number: int, line: Observation) -> dict[str, Any]:
    names = "text priority said_at refers_to superseded"
    return {"number": number, "turns": _turns(line.source), **output.json_fields(line, names)}


def _pass_fields(report: PassReport) -> dict[str, Any]:
    names = "id=made.id kind=made.kind made_by=made.made_by made_at=made.made_at note=made.note"
    return {
        **output.json_fields(report, f"{names} dropped"),
        "turns": [report.made.first, report.made.last],
        "lines": len(report.made.lines),
        "lost": [{"turns": _turns(line.source), "text": line.text} for line in report.lost],
    }


def _turns(source: Source) -> list[int]:
    return [source.first, source.last]
