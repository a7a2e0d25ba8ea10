"""Answering and judging a benchmark's questions: the flags, the estimate and the requests.

The estimated cost is shown first and must be confirmed.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from jitchat import __version__, models
from jitchat.bench import answers, asking, report
from jitchat.bench.output import without_login
from jitchat.bench.scores import Answer, answer_scores, paired_scores
from jitchat.cli import cold_store, options, output
from jitchat.cli.lab_service import answer_cap, probe_speed
from jitchat.errors import KeyRefused, ProviderError
from jitchat.providers.catalogue.table import Prices, presets
from jitchat.settings import Settings
from jitchat.store.database import Database
from jitchat.store.requests import Purpose
from jitchat.text import figures, sanitize

_READER, _LOCAL = "reader", "local"
_SEED = 1
"""The sampling seed for models that run on this machine."""
_REASON_LENGTH = 400
"""Maximum characters of the reason for a failure."""


def _price(whose: str, direction: str) -> Any:  # noqa: ANN401  as its field's type
    about = f"{whose} price per million {direction} tokens, in US dollars."
    return options.option(about, type=click.FloatRange(min=0), metavar="USD")


@dataclass(frozen=True, slots=True)
class AnswerFlags:
    answerer: str | None = options.option(
        "Also answer the questions, with this model of the provider, local, local/MODEL or reader.",
        metavar="MODEL",
    )
    judge: str | None = options.option("Judge the answers with this model.", metavar="MODEL")
    answers: Path | None = options.option(  # noqa: RUF009  it makes a field
        "Store replies in FILE, so that an interrupted run can be resumed (default: next to OUT, or"
        " as shown by `jitchat paths`).",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
    )
    parallel: int = options.option(
        "Number of concurrent requests.",
        type=click.IntRange(1, 64),
        default=4,
        show_default=True,
        metavar="N",
    )
    yes: bool = options.option("Send without asking to confirm the cost.", is_flag=True)
    input_price: float | None = _price("The answerer's", "input")
    output_price: float | None = _price("The answerer's", "output")
    judge_input_price: float | None = _price("The judge's", "input")
    judge_output_price: float | None = _price("The judge's", "output")

    def with_answerer(self, flags: options.Flags) -> options.Flags:
        """Make the answerer the settings' model, because the windows are planned for it."""
        if self.judge is not None and self.answerer is None:
            raise click.UsageError("--judge requires --answerer: there is nothing to judge.")
        if self.judge == _READER:
            raise click.UsageError(
                "--judge: the reader only quotes and cannot judge. Name a provider's model."
            )
        return flags if self.answerer is None else with_model(flags, self.answerer)

    def require_writable(self) -> None:
        if self.answerer is None or self.answers is None:
            return
        if why := output.why_unwritable(self.answers):
            raise answers.unusable(self.answers, why)

    def prices(self) -> tuple[Prices, Prices]:
        """Return the answerer's and the judge's prices; the same model has the same prices."""
        same = self.judge == self.answerer
        answerer = Prices(self.input_price, self.output_price)
        if self.answerer == _READER:
            answerer = Prices(0.0, 0.0)
        sent, replied = self.judge_input_price, self.judge_output_price
        return answerer, Prices(
            answerer.input if same and sent is None else sent,
            answerer.output if same and replied is None else replied,
        )


def with_model(flags: options.Flags, model: str) -> options.Flags:
    """Choose the reader, a local model, or a model of the configured provider."""
    provider, _, name = model.partition("/")
    if provider == _LOCAL:
        return _chosen(flags, {"provider.name": _LOCAL, "provider.model": name or _default_model()})
    given = {"provider.name": _READER}
    if model != _READER:
        settings, key = flags.settings(), "provider.name"
        implied = settings.origin(key) == "default" and model.strip()
        named = {} if implied or settings.provider.name != _READER else {key: "openai"}
        given = {"provider.model": model} | named
    return _chosen(flags, given)


def _default_model() -> str:
    return presets()[_LOCAL].model


def _chosen(flags: options.Flags, given: dict[str, str]) -> options.Flags:
    return options.Flags(given=given).over(flags)


@dataclass(frozen=True, slots=True)
class Answered:
    """The results of a run's requests."""

    results: Sequence[Answer]
    run: answers.Answering
    is_judged: bool


def send_all(
    answering: AnswerFlags,
    flags: options.Flags,
    cases: asking.Cases,
    data: dict[str, Any],
    out: Path | None,
) -> Answered:
    """Send the requests that have no reply yet.

    `flags` already name the answerer; `data` describes the file of questions and the sample.
    """
    prices, paths = answering.prices(), flags.paths()
    beside = out.parent / f"{out.stem}.answers.jsonl" if out else None
    path = answering.answers or beside or paths.answers
    is_recorded = answering.judge is not None or answering.answerer != _READER
    with (
        cold_store.usage_log(paths, wanted=is_recorded) as database,
        answers.opened_log(path) as log,
    ):
        answerer, judge = _model(flags.settings(), prices[0], database), None
        if answering.judge is not None:
            judge = _model(with_model(flags, answering.judge).settings(), prices[1], database)
        run = answers.Answering(cases.planned, answerer, judge, data, log)
        if bills := list(_bills(run)):
            output.say("\n".join(bills), err=True)
            if not all(each.runs_here for each in (answerer, judge) if each is not None):
                output.require_yes(given=answering.yes)
            output.say(f"Replies are stored in {path}; to resume, run the command again.", err=True)
        _send_all(run, answering.parallel, path)
        _report_failures(run, log.first_failure)
    return Answered(list(run.results()), run, judge is not None)


def answer_all(
    answering: AnswerFlags,
    flags: options.Flags,
    cases: asking.Cases,
    result: dict[str, Any],
    out: Path | None,
) -> tuple[list[Table], dict[str, Any]]:
    """Send the requests that have no reply yet. Return the tables, and `result` with the scores."""
    answered = send_all(answering, flags, cases, result["data"], out)
    results, run = answered.results, answered.run
    reached = answer_scores(results, judged=answered.is_judged)
    pairs = list(paired_scores(results))
    title = f"answered by {answering.answerer}"
    title += f", judged by {answering.judge}" * answered.is_judged
    tables = [report.answer_table(mode, scores, title) for mode, scores in reached.items()]
    if pairs:
        tables.append(report.paired_table(pairs))
    return tables, report.answers_added(result, reached, pairs, run.answers, run.judgements())


def _model(settings: Settings, prices: Prices, database: Database | None) -> answers.Model:
    if warning := models.unencrypted_keys(settings):
        output.warn(warning)
    model = models.resolve_model(settings)
    profile = model.profile
    identity: dict[str, object] = {"provider": profile.name, "model": model.name}
    sampling = profile.sampling
    if profile.is_engine:  # a single process: one request at a time, and free
        prices = model.prices or prices
        sampling = replace(
            sampling,
            temperature=sampling.temperature or 0.0,
            seed=_SEED if sampling.seed is None else sampling.seed,
            max_tokens=sampling.max_tokens or answer_cap(model),
        )
        identity |= {"seed": sampling.seed, "max_tokens": sampling.max_tokens}
    if profile.is_reader:
        identity["version"] = __version__
    else:
        identity |= {
            "base_url": without_login(profile.base_url),
            "temperature": sampling.temperature,
        }
    provider = models.make_provider(profile, model.name, model.counter)
    if not profile.is_reader:
        given = None if prices.input is None and prices.output is None else prices
        recorded = replace(model, database=database)
        provider = recorded.metered(provider, Purpose.BENCHMARK, prices=given)
    lacks_key = models.lacks_key(profile)
    return answers.Model(
        provider, model.counter, sampling, prices, identity, lacks_key, profile.is_embedded
    )


def _bills(run: answers.Answering) -> Iterator[str]:
    """Yield the estimated cost of each round with requests to send; nothing for the reader."""
    all_loads = (run.loads(), run.judge_loads())
    for asked, loads in zip(run.rounds(), all_loads, strict=False):  # without a judge, one round
        identity = asked.model.identity
        if loads and asked.model.lacks_key:
            raise KeyRefused(
                f"Nothing was sent: {identity['base_url']} requires a key, but none is set.",
                f"Run `jitchat keys set {identity['provider']}`, or set its environment variable.",
            )
        if loads and identity["provider"] != _READER:
            where = f"{identity['model']} at {identity['base_url']}"
            yield from answers.bill(where, loads, asked.model.prices)
            if asked.model.runs_here:
                yield _time(loads, asked.model)


def _time(loads: Sequence[answers.Load], model: answers.Model) -> str:
    """Estimate how long a local model will take, from its speed at a short question."""
    try:
        speed = asyncio.run(probe_speed(model.provider, model.options))
    except ProviderError:
        speed = None  # the run itself reports the error
    if speed is None:
        return "  time: unknown"
    requests = sum(load.requests for load in loads)
    reading = sum(load.input_tokens for load in loads) / speed.reads
    minutes = (reading + requests * answers.REPLY_TOKENS / speed.writes) / 60
    return f"  time: about {figures.plural(max(1, round(minutes)), 'minute')} on this machine"


def _send_all(run: answers.Answering, parallel: int, path: Path) -> None:
    try:
        for asked in run.rounds():
            if waiting := sum(asked.waiting()):
                at_once = 1 if asked.model.runs_here else parallel
                with output.progress(asked.name, waiting, lines=True) as advance:
                    asyncio.run(asked.run(at_once, advance))
    except KeyboardInterrupt:
        output.say(
            f"\nStopped. Replies so far are in {path}; to resume, run the command again.", err=True
        )
        raise


def _report_failures(run: answers.Answering, first: ProviderError | None) -> None:
    failed = sum(sum(asked.waiting()) for asked in run.rounds())
    if not failed:
        return
    requests, them = figures.plural(failed, "request"), "it" if failed == 1 else "them"
    why = f" The first failure: {sanitize.shorten(str(first), _REASON_LENGTH)}" if first else ""
    output.say(f"{requests} failed; run the command again to retry {them}.{why}", err=True)
