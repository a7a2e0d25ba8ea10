"""`jitchat tokens`: how a model's tokens are counted, and corrections learnt from its server."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click

from jitchat.cli.cold_store import load_settings, opened_store
from jitchat.cli.options import Flags, SharingCommand, flag, provider_options, text_given
from jitchat.cli.output import json_fields, print_records, tell, warn
from jitchat.errors import UsageError
from jitchat.models import ResolvedModel, resolve_model
from jitchat.settings.settings import CHOSEN
from jitchat.store.database import Database
from jitchat.store.models import ModelLessons, models_with_samples, server_of
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, repair
from jitchat.tui import figures
from jitchat.values import Message, Role, Sample
from jitchat.window.calibration import LEAST_SAMPLES, Calibration
from jitchat.window.tokens import request_tokens

_SHOWN = 8
"""Number of the latest samples that are printed; JSON has all."""
_BANDS_AT = (1_000, 10_000)
"""Counts, in tokens, for which the band is shown."""
_READER = "reader"


@dataclass(frozen=True, slots=True)
class _Learnt:
    """What was learnt about one counter from one server's model."""

    server: str
    model: str
    counter: str
    samples: tuple[Sample, ...]
    calibration: Calibration
    refused: tuple[str, ...] = ()
    """Parameters that the server refused, by name."""

    @property
    def correction(self) -> str:
        """Factor of text and tokens per request, then other factors: `× 1.13 + 11, calls × 2`."""
        offset = round(self.calibration.offset)
        added = f" + {offset:,}" if offset else ""
        factors = [
            f"{other} × {_factor(factor.slope)}"
            for other, factor in self.calibration.factors.items()
        ]
        return ", ".join([f"× {_factor(self.calibration.slope)}{added}", *factors])

    def fields(self, *bands_at: int) -> dict[str, Any]:
        """Return the correction and its bands as JSON values; both None without a correction."""
        learnt = self.calibration
        if not learnt.samples:
            return {"correction": None, "band": None}
        factors = {other.value: factor.slope for other, factor in learnt.factors.items()}
        return {
            "correction": {**json_fields(learnt, "slope offset samples"), "factors": factors},
            "band": {str(at): learnt.band(at) for at in bands_at},
        }


def _factor(slope: float) -> str:
    return f"{slope:.3f}".rstrip("0").rstrip(".")


@click.command("tokens", cls=SharingCommand)
@click.argument("model", required=False)
@flag("--text TEXT", "Count the tokens of TEXT (- for standard input).")
@flag("--exact", "Also have the provider count TEXT, which takes a request.")
@flag(
    "--forget", "Forget what was learnt from the server: counts, context size, refused parameters."
)
@provider_options
def tokens_command(  # noqa: PLR0913  one for each option
    flags: Flags, model: str | None, text: str | None, *, exact: bool, forget: bool, as_json: bool
) -> None:
    """Show how MODEL's tokens are counted and how accurate the count is.

    MODEL can be PROVIDER/MODEL. Without MODEL, every model with learnt corrections is listed. A
    parameter that a server refused is no longer sent, until --forget.
    """
    if exact and text is None:
        raise UsageError("--exact requires a text to count.", "Give one with --text.")
    if model is None:
        if text is not None:
            raise UsageError("--text requires a MODEL to count for.", "Name one.")
        if forget:
            raise UsageError("--forget requires a MODEL.", "Name one.")
        _list_models(flags, as_json=as_json)
        return
    resolved = _resolved(flags, model)
    with opened_store(flags.paths()) as store:
        learnt = _learnt(store.database, resolved, forget=forget)
    counts = None
    if text is not None:
        counts = _count(resolved, learnt.calibration, text_given(text), exact=exact)
    fields = _fields(resolved, learnt)
    if counts is not None:
        fields["text"] = counts
    lines = (*_lines(resolved, learnt), *_count_lines(resolved, counts))
    tell(fields, "\n".join(lines), as_json=as_json)


def _resolved(flags: Flags, model: str) -> ResolvedModel:
    settings = load_settings(flags)
    if settings.origin("provider.name") != CHOSEN or settings.model_name() != model:
        provider, _, name = model.partition("/")
        meant = {"provider.model": model}
        if model == _READER:
            meant = {"provider.name": _READER}
        elif name and provider in settings.provider_names():
            meant = {"provider.name": provider, "provider.model": name}
        settings = Flags(given=meant).over(flags).settings()
    return resolve_model(settings)


def _learnt(database: Database, model: ResolvedModel, *, forget: bool) -> _Learnt:
    """Load what was learnt about the model; with `forget`, delete it first and say so."""
    server = server_of(model.profile.base_url)
    counter = model.counter.name
    lessons = ModelLessons(database, server, model.name)
    if forget:
        forgotten = "Forgot what was learnt from the server."
        warn(forgotten if lessons.forget() else "There was nothing to forget.")
    samples = lessons.samples(counter)
    refused = tuple(sorted(lessons.refused()))
    return _Learnt(server, model.name, counter, samples, Calibration.of(samples), refused)


def _lines(model: ResolvedModel, learnt: _Learnt) -> Iterator[str]:
    where = f" ({learnt.server})" if learnt.server else ""
    yield f"{model.name} of {model.profile.name}{where}"
    own = "the model's own tokenizer" if model.counter.exact else "not the model's own tokenizer"
    yield f"counted by {learnt.counter}, {own}"
    yield from _sample_lines(learnt)
    if learnt.refused:
        refused = ", ".join(map(one_line, learnt.refused))
        yield f"not sent, because the server refused it: {refused}"


def _sample_lines(learnt: _Learnt) -> Iterator[str]:
    samples, calibration = learnt.samples, learnt.calibration
    if not samples:
        yield (
            "nothing learnt yet: each reply with token counts from the provider is a sample;"
            f" counts are corrected from {LEAST_SAMPLES} samples on"
        )
        return
    count = plural(len(samples), "sample")
    if not calibration.samples:
        yield f"{count}, no correction yet: {LEAST_SAMPLES} consistent samples are required"
    else:
        yield f"{count}, {calibration.samples:,} of them used"
        yield f"correction: {learnt.correction}"
        bands = (f"± {calibration.band(at):,} at {at:,} tokens" for at in _BANDS_AT)
        yield f"band: {', '.join(bands)}"
    yield "latest samples, counted → reported:"
    latest = samples[-_SHOWN:]
    width = max(len(f"{sample.counted:,}") for sample in latest)
    for sample in latest:
        yield f"  {sample.counted:>{width},} → {sample.reported:,}"


def _count(
    model: ResolvedModel, calibration: Calibration, text: str, *, exact: bool
) -> dict[str, int]:
    """Count a text and a request of it alone; with `exact`, the provider counts the request too."""
    message = Message(Role.USER, repair(text))
    tokens = request_tokens(model.counter, (message,))
    counts = {
        "counted": model.counter.count(message.content),
        "request": calibration.correct(tokens),
        "band": calibration.band(tokens),
    }
    if exact:
        counts["exact"] = asyncio.run(model.count_exactly((message,)))
    return counts


def _count_lines(model: ResolvedModel, counts: dict[str, int] | None) -> Iterator[str]:
    if counts is None:
        return
    exact = model.counter.exact
    alone = figures.tokens(counts["counted"], exact=exact)
    request = figures.tokens(counts["request"], exact=exact, band=counts["band"])
    yield f"text: {alone} tokens, {request} as a separate request"
    if "exact" in counts:
        reported = figures.reported(counts["exact"])
        yield f"{model.profile.name} counts {reported} for that request"


def _fields(model: ResolvedModel, learnt: _Learnt) -> dict[str, Any]:
    return {
        "provider": model.profile.name,
        **json_fields(learnt, "server model"),
        "counter": {"name": learnt.counter, "exact": model.counter.exact},
        **learnt.fields(*_BANDS_AT),
        **json_fields(learnt, "refused samples"),
    }


def _list_models(flags: Flags, *, as_json: bool) -> None:
    with opened_store(flags.paths()) as store:
        rows = [
            _Learnt(server, model, counter, samples, Calibration.of(samples))
            for server, model, counter in models_with_samples(store.database)
            if (samples := ModelLessons(store.database, server, model).samples(counter))
        ]
    none = "Nothing learnt yet: each reply with token counts from the provider is a sample."
    print_records(rows, _listed_fields, _cells, as_json=as_json, none=none)


def _listed_fields(row: _Learnt) -> dict[str, Any]:
    fields = json_fields(row, "server model counter")
    return {**fields, "samples": len(row.samples), **row.fields(_BANDS_AT[-1])}


def _cells(row: _Learnt) -> tuple[str, ...]:
    at = _BANDS_AT[-1]
    correction = "no correction yet"
    if row.calibration.samples:
        correction = f"{row.correction}, ± {row.calibration.band(at):,} at {at:,} tokens"
    names = map(one_line, (row.model, row.server, row.counter))
    return (*names, plural(len(row.samples), "sample"), correction)
