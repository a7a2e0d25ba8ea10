"""`jitchat tokens`: how a model's tokens are counted, and what its server taught about that."""

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from jitchat.cli.chosen import chosen_in_the_app
from jitchat.cli.opening import opened_store
from jitchat.cli.options import Flags, SharingCommand, provider_options
from jitchat.cli.output import say, say_json
from jitchat.errors import UsageError
from jitchat.settings.profiles import CHOSEN, Profile
from jitchat.store.models import LearntModels, server_of
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, repair
from jitchat.values import Message, Role, Sample
from jitchat.window.calibration import Calibration
from jitchat.window.tokens import TokenCounter, counter_for, request_tokens

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
    refused: tuple[str, ...]
    """Parameters that its server refused, by name."""
    learnt: Calibration


@click.command("tokens", cls=SharingCommand)
@click.argument("model", required=False)
@click.option("--text", metavar="TEXT", help="Count this; `-` for standard input.")
@click.option("--exact", is_flag=True, help="Have the provider count TEXT, too; takes a request.")
@click.option(
    "--forget",
    is_flag=True,
    help="Forget what its server taught: counts, the context size, refused parameters.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@provider_options
def tokens_command(  # noqa: PLR0913  one for each option
    flags: Flags, model: str | None, text: str | None, *, exact: bool, forget: bool, as_json: bool
) -> None:
    """Show how the tokens of MODEL are counted, and how sure that is.

    MODEL may be PROVIDER/MODEL. Without one, every model that taught anything is listed. A
    parameter that a server refused is left out until it is forgotten here.
    """
    if exact and text is None:
        raise UsageError("--exact counts a text, and none is given.", "Give one with --text.")
    if model is None:
        if text is not None:
            raise UsageError("--text is counted for a model, and none is named.", "Name one.")
        if forget:
            raise UsageError("--forget is for one model, and none is named.", "Name one.")
        list_models(flags, as_json=as_json)
        return
    if forget:
        _forget(flags, model)
    known = _known(flags, model)
    found = _text_fields(known, _given(text), exact=exact) if text is not None else None
    if as_json:
        say_json(_fields(known) | ({"text": found} if found is not None else {}))
        return
    for line in (*_told(known), *(_text_told(known, found) if found is not None else [])):
        say(line)


def _given(text: str) -> str:
    """Take the text that was given, or what comes on standard input for `-`."""
    if text != "-":
        return text
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace") if sys.stdin else ""


def _forget(flags: Flags, model: str) -> None:
    """Forget what the model's server taught, and say so, beside what is printed of the model."""
    known = _known(flags, model)
    with opened_store(flags.paths()) as store:
        was_any = LearntModels(store.database).of(known.server, known.model).forget()
    told = "What its server taught is forgotten." if was_any else "There was nothing to forget."
    say(f"jitchat: {told}", err=True)


def _known(flags: Flags, model: str) -> _Known:
    """Look up what the settings and the cold store say of the model."""
    chosen = chosen_in_the_app(flags.paths().database)
    settings = flags.settings(chosen)
    if settings.origin("provider.name") != CHOSEN or settings.model_name() != model:
        meant = {"provider.name": _READER} if model == _READER else {"provider.model": model}
        settings = Flags(given=meant).over(flags).settings()
    profile, name = settings.in_use(), settings.model_name()
    counter, server = counter_for(name, os.environ), server_of(profile.base_url)
    with opened_store(flags.paths()) as store:
        kept = LearntModels(store.database).of(server, name)
        samples, refused = kept.samples(counter.name), tuple(sorted(kept.refused()))
    return _Known(profile, server, name, counter, samples, refused, Calibration.of(samples))


def _told(known: _Known) -> Iterator[str]:
    where = f" ({known.server})" if known.server else ""
    yield f"{known.model} of {known.profile.name}{where}"
    own = "the model's own tokenizer" if known.counter.exact else "not the model's own tokenizer"
    yield f"counted by {known.counter.name}, {own}"
    yield from _learnt_told(known) if known.samples else [_NOTHING_LEARNT]
    if known.refused:
        yield f"left out, for its server refused it: {', '.join(map(one_line, known.refused))}"


def _learnt_told(known: _Known) -> Iterator[str]:
    learnt, samples = known.learnt, known.samples
    if not learnt.samples:
        yield f"{plural(len(samples), 'sample')}, no correction yet: it takes {_LEAST} that agree"
    else:
        yield f"{plural(len(samples), 'sample')}, {learnt.samples:,} of them used"
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


def _text_told(known: _Known, found: dict[str, int]) -> Iterator[str]:
    from jitchat.tui.figures import reported, tokens  # noqa: PLC0415  loads the planner

    exact = known.counter.exact
    alone = tokens(found["counted"], exact=exact)
    request = tokens(found["request"], exact=exact, band=found["band"])
    yield f"text: {alone} tokens, {request} as a request of its own"
    if "exact" in found:
        yield f"{known.profile.name} counts exactly {reported(found['exact'])} for that request"


def _text_fields(known: _Known, text: str, *, exact: bool) -> dict[str, int]:
    message = Message(Role.USER, repair(text))
    own = request_tokens(known.counter, (message,))
    return {
        "counted": known.counter.count(message.content),
        "request": known.learnt.correct(own),
        "band": known.learnt.band(own),
    } | ({"exact": _exactly(known, message)} if exact else {})


def _exactly(known: _Known, message: Message) -> int:
    """Have the provider count a request with this message alone; it is not answered."""
    from jitchat.cli.counting import count_by  # noqa: PLC0415  loads httpx

    return asyncio.run(count_by(known.profile, known.model, (message,)))


def _fields(known: _Known) -> dict[str, Any]:
    learnt = known.learnt
    return {
        "provider": known.profile.name,
        "server": known.server,
        "model": known.model,
        "counter": {"name": known.counter.name, "exact": known.counter.exact},
        "correction": correction_fields(learnt),
        "band": {str(at): learnt.band(at) for at in _AT} if learnt.samples else None,
        "refused": list(known.refused),
        "samples": [{"counted": each.counted, "reported": each.reported} for each in known.samples],
    }


def correction_fields(learnt: Calibration) -> dict[str, float | int] | None:
    """Describe a correction; None where nothing is corrected."""
    if not learnt.samples:
        return None
    return {"slope": learnt.slope, "offset": learnt.offset, "samples": learnt.samples}


_LEAST = 3
_NOTHING_LEARNT = (
    "nothing learnt yet: each reply whose tokens the provider reports is a sample, and from"
    f" {_LEAST} on counts are corrected"
)


AT = 10_000
"""Where the band is told, in tokens of one's own."""


@dataclass(frozen=True, slots=True)
class _Learnt:
    """What one model of one server taught about one counter."""

    server: str
    model: str
    counter: str
    samples: int
    learnt: Calibration


def list_models(flags: Flags, *, as_json: bool) -> None:
    """Print them, by server."""
    with opened_store(flags.paths()) as store:
        models = LearntModels(store.database)
        found = [
            _Learnt(server, model, counter, len(samples), Calibration.of(samples))
            for server, model, counter in models.counted()
            if (samples := models.of(server, model).samples(counter))
        ]
    if as_json:
        say_json([_learnt_fields(each) for each in found])
    elif found:
        _print_table([_cells(each) for each in found])
    else:
        say("No server taught anything yet: each reply whose tokens it reports is a sample.")


def _learnt_fields(each: _Learnt) -> dict[str, Any]:
    return {
        "server": each.server,
        "model": each.model,
        "counter": each.counter,
        "samples": each.samples,
        "correction": correction_fields(each.learnt),
        "band": {str(AT): each.learnt.band(AT)} if each.learnt.samples else None,
    }


def _cells(each: _Learnt) -> Sequence[str]:
    learnt = each.learnt
    told = f"{correction_sentence(learnt)}, ± {learnt.band(AT):,} at {AT:,} tokens"
    return (
        one_line(each.model),
        one_line(each.server),
        one_line(each.counter),
        plural(each.samples, "sample"),
        told if learnt.samples else "no correction yet",
    )


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        say("  ".join(cells).rstrip())
