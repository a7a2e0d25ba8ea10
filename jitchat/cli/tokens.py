"""`jitchat tokens`: how a model's tokens are counted, and what its server taught about that."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from jitchat.cli.options import Flags, SharingCommand, provider_options
from jitchat.cli.output import say, say_json
from jitchat.text.counts import counted

if TYPE_CHECKING:
    from jitchat.settings.profile import Profile
    from jitchat.turn import Sample
    from jitchat.window.calibration import Calibration
    from jitchat.window.tokens import TokenCounter

_SHOWN = 8
"""So many of the latest samples are printed; JSON has all."""
_AT = (1_000, 10_000)
"""Where the band is told, in tokens of one's own."""
_READER = "reader"


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of counting for one model."""

    profile: Profile
    server: str
    model: str
    counter: TokenCounter
    samples: tuple[Sample, ...]
    learnt: Calibration


@click.command("tokens", cls=SharingCommand)
@click.argument("model")
@click.option("--text", metavar="TEXT", help="Count this; `-` for standard input.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@provider_options
def tokens_command(flags: Flags, model: str, text: str | None, as_json: bool) -> None:
    """Show how the tokens of MODEL are counted, and how sure that is.

    MODEL may be PROVIDER/MODEL.
    """
    known = _known(flags, model)
    if text == "-":
        text = sys.stdin.buffer.read().decode("utf-8-sig", "replace") if sys.stdin else ""
    if as_json:
        say_json(_fields(known) | ({"text": _text_fields(known, text)} if text is not None else {}))
        return
    for line in (*_told(known), *([_text_told(known, text)] if text is not None else [])):
        say(line)


def _known(flags: Flags, model: str) -> _Known:
    """Look up what the settings and the cold store say of the model."""
    from jitchat.cli.opening import opened_store  # noqa: PLC0415  loads the database's libraries
    from jitchat.memory.learnt import LearntModels, server_of  # noqa: PLC0415
    from jitchat.window.calibration import Calibration  # noqa: PLC0415
    from jitchat.window.tokens import counter_for  # noqa: PLC0415

    meant = {"provider.name": _READER} if model == _READER else {"provider.model": model}
    settings = Flags(given=meant).over(flags).settings()
    profile, name = settings.in_use(), settings.model_name()
    counter, server = counter_for(name, os.environ), server_of(profile.base_url)
    with opened_store(flags.paths()) as store:
        samples = LearntModels(store.database).of(server, name).samples(counter.name)
    return _Known(profile, server, name, counter, samples, Calibration.of(samples))


def _told(known: _Known) -> Iterator[str]:
    where = f" ({known.server})" if known.server else ""
    yield f"{known.model} of {known.profile.name}{where}"
    own = "the model's own tokenizer" if known.counter.exact else "not the model's own tokenizer"
    yield f"counted by {known.counter.name}, {own}"
    yield from _learnt_told(known) if known.samples else [_NOTHING_LEARNT]


def _learnt_told(known: _Known) -> Iterator[str]:
    learnt, samples = known.learnt, known.samples
    if not learnt.samples:
        yield f"{counted(len(samples), 'sample')}, no correction yet: it takes {_LEAST} that agree"
    else:
        yield f"{counted(len(samples), 'sample')}, {learnt.samples:,} of them used"
        yield f"correction: {correction_sentence(learnt)}"
        yield "band: " + ", ".join(f"± {learnt.band(at):,} at {at:,} tokens" for at in _AT)
    yield "the latest, counted → reported:"
    width = max(len(f"{each.counted:,}") for each in samples[-_SHOWN:])
    for each in samples[-_SHOWN:]:
        yield f"  {each.counted:>{width},} → {each.reported:,}"


def correction_sentence(learnt: Calibration) -> str:
    """`× 1.13 + 11`: what a count is multiplied by, and what each request adds."""
    offset = round(learnt.offset)
    added = f" {'+' if offset > 0 else '−'} {abs(offset):,}" if offset else ""
    return f"× {learnt.slope:.3f}".rstrip("0").rstrip(".") + added


def _text_told(known: _Known, text: str) -> str:
    from jitchat.tui.figures import tokens  # noqa: PLC0415  loads the planner

    found, exact = _text_fields(known, text), known.counter.exact
    alone = tokens(found["counted"], exact=exact)
    request = tokens(found["request"], exact=exact, band=found["band"])
    return f"text: {alone} tokens, {request} as a request of its own"


def _text_fields(known: _Known, text: str) -> dict[str, int]:
    from jitchat.text.safe import repaired  # noqa: PLC0415  see _known
    from jitchat.turn import Message, Role  # noqa: PLC0415
    from jitchat.window.tokens import request_tokens  # noqa: PLC0415

    message = Message(Role.USER, repaired(text))
    own = request_tokens(known.counter, (message,))
    return {
        "counted": known.counter.count(message.content),
        "request": known.learnt.correct(own),
        "band": known.learnt.band(own),
    }


def _fields(known: _Known) -> dict[str, Any]:
    learnt = known.learnt
    correction = {"slope": learnt.slope, "offset": learnt.offset, "samples": learnt.samples}
    return {
        "provider": known.profile.name,
        "server": known.server,
        "model": known.model,
        "counter": {"name": known.counter.name, "exact": known.counter.exact},
        "correction": correction if learnt.samples else None,
        "band": {str(at): learnt.band(at) for at in _AT} if learnt.samples else None,
        "samples": [{"counted": each.counted, "reported": each.reported} for each in known.samples],
    }


_LEAST = 3
_NOTHING_LEARNT = (
    "nothing learnt yet: each reply whose tokens the provider reports is a sample, and from"
    f" {_LEAST} on counts are corrected"
)
