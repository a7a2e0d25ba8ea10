"""Shared by the commands of `jitchat bench`: options, files of questions and of figures, answers.

If the questions are answered, the estimated cost is shown first and must be confirmed.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from jitchat import __version__, models
from jitchat.bench import questions, report
from jitchat.bench.answers import (
    ASSUMED_ANSWER,
    REPLY_TOKENS,
    Answering,
    Model,
    Round,
    bill,
    opened_log,
    unusable,
)
from jitchat.bench.asking import WIDER, Cases
from jitchat.bench.output import settings_fields, without_login
from jitchat.bench.scores import Measured, answer_scores, paired_scores
from jitchat.cli import cold_store, options, output
from jitchat.errors import BenchFailed, ProviderError
from jitchat.lab.service import answer_cap, probe_speed, require_key
from jitchat.providers.catalogue.table import Prices, presets
from jitchat.settings import Settings
from jitchat.store.database import Database
from jitchat.store.requests import Purpose
from jitchat.text import figures, sanitize
from jitchat.values import USUAL_MODES, Mode
from jitchat.weights.catalogue import sha256_of

ANY_FORMAT = "in LoCoMo's, LongMemEval's or the labelled format, detected from its content."


def data_option(help_text: str) -> Callable[..., Any]:
    return options.flag("--data FILE", help_text, type=options.PATH, required=True)


modes_option = options.flag(
    "--modes LIST",
    f"Modes to measure, of {', '.join(Mode)}.",
    type=lambda text: options.names_of("--modes", text, Mode),
    default=",".join(USUAL_MODES),
)


def show(tables: Iterable[Table]) -> None:
    output.print_tables(tables)
    output.emit("")


@dataclass(frozen=True, slots=True)
class ResultFlags:
    json: Path | None = options.option(  # noqa: RUF009  it makes a field
        "Write the figures to OUT as JSON.", "OUT", type=options.PATH
    )

    def require_writable(self) -> None:
        if self.json is not None:
            output.require_writable(self.json)

    def write(self, settings: Settings, figures: Mapping[str, object]) -> None:
        """Write the figures, if wanted, with all that they depend on."""
        if self.json is not None:
            about = {"version": __version__, "settings": settings_fields(settings)}
            output.write_json(self.json, about | dict(figures))


@dataclass(frozen=True, slots=True)
class LabelledFile:
    name: str
    talks: list[questions.LabelledConversation]
    fields: dict[str, object]
    """The file's description, for OUT."""

    @property
    def asked(self) -> int:
        return sum(len(talk.questions) for talk in self.talks)

    def require_fitting(self, measured: Measured, limit: int) -> None:
        """Report the questions that did not fit the window.

        Raises:
            BenchFailed: None did, by any method.

        """
        of_all = f"of {figures.plural(self.asked, 'question')}"
        for method, missed in measured.unfit.items():
            output.say(
                f"{self.name}, {method}: {missed:,} {of_all} did not fit the window. {WIDER}",
                err=True,
            )
        if not measured.outcomes:
            what = f"No question fits {limit:,} tokens in {', '.join(measured.unfit)}."
            raise BenchFailed(what, WIDER)


@dataclass(frozen=True, slots=True)
class QuestionFlags(ResultFlags):
    sample: int | None = options.count_option(
        "Use a random sample of N questions, stratified by category."
    )
    seed: int = options.option("Seed of the sample.", "N", type=int, default=1)

    def read(
        self, path: Path, *formats: questions.LabelFormat, needs_evidence: bool = False
    ) -> LabelledFile:
        """Read a file and draw the sample; report what is left out or cannot be found.

        Raises:
            BenchFailed: The file cannot be read, or has no question with the evidence it needs, or
                OUT cannot be written.

        """
        self.require_writable()
        talks = questions.read_labelled(path, *formats)
        for warning in questions.label_warnings(talks, needs_evidence=needs_evidence):
            output.say(f"{path.name}: {warning}", err=True)
        asked = sum(len(talk.questions) for talk in talks)
        fields: dict[str, object] = {"path": str(path), "sha256": sha256_of(path)}
        if needs_evidence:
            talks = questions.with_evidence(talks)
            fields["without_evidence"] = asked - sum(len(talk.questions) for talk in talks)
            if not any(talk.questions for talk in talks):
                what = f"{path} has no question whose evidence is a turn."
                raise BenchFailed(what, "Choose another file.")
        if self.sample is not None:
            talks = questions.sampled(talks, self.sample, self.seed)
            drawn = sum(len(talk.questions) for talk in talks)
            fields |= {"sample": drawn, "seed": self.seed}
        fields["conversations"] = sum(bool(talk.questions) for talk in talks)
        return LabelledFile(path.stem, talks, fields)


_READER, _LOCAL = "reader", "local"
_SEED = 1
"""The sampling seed for models that run on this machine."""
_REASON_LENGTH = 400
"""Maximum characters of the reason for a failure."""


@dataclass(frozen=True, slots=True)
class AnswerFlags:
    answerer: str | None = options.option(
        "Also answer the questions, with this model of the provider, local, local/MODEL or reader.",
        "MODEL",
    )
    judge: str | None = options.option("Judge the answers with this model.", "MODEL")
    answers: Path | None = options.option(  # noqa: RUF009  it makes a field
        "Store replies in FILE, so that an interrupted run can be resumed (default: next to OUT, or"
        " as shown by `jitchat paths`).",
        "FILE",
        type=options.FILE,
    )
    parallel: int = options.count_option("Number of concurrent requests.", 64, default=4)
    yes: bool = options.option("Send without asking to confirm the cost.")

    def with_answerer(self, flags: options.Flags) -> options.Flags:
        """Make the answerer the settings' model, because the windows are planned for it.

        Raises:
            UsageError: The judge has nothing to judge, or cannot.
            BenchFailed: The answers cannot be saved.

        """
        if self.judge is not None and self.answerer is None:
            raise click.UsageError("--judge requires --answerer: there is nothing to judge.")
        if self.judge == _READER:
            raise click.UsageError(
                "--judge: the reader only quotes and cannot judge. Name a provider's model."
            )
        if self.answerer is None:
            return flags
        if self.answers is not None and (why := output.why_unwritable(self.answers)):
            raise unusable(self.answers, why)
        return with_model(flags, self.answerer)

    def cases(self, settings: Settings) -> Cases | None:
        """Return what collects the requests as they are planned; None without an answerer."""
        return Cases(models.system_text(settings)) if self.answerer is not None else None

    def answer(
        self,
        flags: options.Flags,
        cases: Cases | None,
        data: Mapping[str, object],
        out: Path | None,
    ) -> dict[str, object]:
        """Have the cases answered and print the scores; return them for JSON.

        `flags` already name the answerer; `data` describes the file of questions and the sample.
        """
        if cases is None:
            return {}
        run = self._send(flags, cases, data, out)
        results = list(run.results())
        scores = answer_scores(results, judged=run.judge is not None)
        pairs = list(paired_scores(results))
        judged = "" if self.judge is None else f", judged by {self.judge}"
        title = f"answered by {self.answerer}{judged}"
        show(report.answer_tables(title, scores, pairs))
        return report.answer_fields(run, scores, pairs)

    def _send(
        self, flags: options.Flags, cases: Cases, data: Mapping[str, object], out: Path | None
    ) -> Answering:
        """Send the requests that have no reply yet, after their cost was confirmed."""
        paths = flags.paths()
        beside = out.parent / f"{out.stem}.answers.jsonl" if out else None
        path = self.answers or beside or paths.answers
        is_recorded = self.judge is not None or self.answerer != _READER
        with (
            cold_store.usage_log(paths, wanted=is_recorded) as database,
            opened_log(path) as log,
        ):
            answerer = _model(flags.settings(), database)
            judge = None
            if self.judge is not None:
                judge = _model(with_model(flags, self.judge).settings(), database)
            run = Answering(cases.planned, answerer, judge, data, log)
            self._confirm(run, path)
            self._send_all(run, path)
            failed = sum(len(asked.waiting()) for asked in run.rounds())
            if failed:
                requests = figures.plural(failed, "request")
                them = "it" if failed == 1 else "them"
                text = f"{requests} failed; run the command again to retry {them}."
                if log.first_failure:
                    reason = sanitize.shorten(str(log.first_failure), _REASON_LENGTH)
                    text += f" The first failure: {reason}"
                output.say(text, err=True)
        return run

    def _confirm(self, run: Answering, path: Path) -> None:
        """Show the estimated costs and ask for confirmation, unless all models run here."""
        expected = [asked for asked in run.rounds(ASSUMED_ANSWER) if asked.waiting()]
        costly = [asked for asked in expected if not asked.model.profile.is_reader]
        for asked in costly:
            require_key(asked.model.profile)
        if costly:
            output.say("\n".join(line for asked in costly for line in _bill(asked)), err=True)
            if not all(asked.model.profile.is_engine for asked in costly):
                output.require_yes(given=self.yes)
            output.say(f"Replies are stored in {path}; to resume, run the command again.", err=True)

    def _send_all(self, run: Answering, path: Path) -> None:
        try:
            for asked in run.rounds():
                waiting = len(asked.waiting())
                if waiting:
                    at_once = 1 if asked.model.profile.is_embedded else self.parallel
                    with output.progress(asked.name, waiting, lines=True) as advance:
                        asyncio.run(asked.run(at_once, advance))
        except KeyboardInterrupt:
            text = f"\nStopped. Replies so far are in {path}; to resume, run the command again."
            output.say(text, err=True)
            raise


def with_model(flags: options.Flags, model: str) -> options.Flags:
    """Choose the reader, a local model, or a model of the configured provider."""
    provider, _, name = model.partition("/")
    given = {"provider.model": model}
    if provider == _LOCAL:
        given = {"provider.name": _LOCAL, "provider.model": name or presets()[_LOCAL].model}
    elif model == _READER:
        given = {"provider.name": _READER}
    else:
        settings = flags.settings()
        is_implied = settings.origin("provider.name") == "default" and model.strip()
        if settings.provider.name == _READER and not is_implied:
            given["provider.name"] = "openai"
    return options.Flags(given=given).over(flags)


def _model(settings: Settings, database: Database | None) -> Model:
    if warning := models.unencrypted_keys(settings):
        output.warn(warning)
    model = models.resolve_model(settings)
    profile = model.profile
    sampling = profile.sampling
    if profile.is_engine:  # a single process: one request at a time
        sampling = replace(
            sampling,
            temperature=sampling.temperature or 0.0,
            seed=_SEED if sampling.seed is None else sampling.seed,
            max_tokens=sampling.max_tokens or answer_cap(model),
        )
    identity = {
        "provider": profile.name,
        "model": model.name,
        "base_url": without_login(profile.base_url),
        "temperature": sampling.temperature,
        "seed": sampling.seed,
        "max_tokens": sampling.max_tokens,
        "version": __version__ if profile.is_reader else None,
    }
    prices = model.prices or Prices(None, None)
    provider = models.make_provider(profile, model.name, model.counter)
    if not profile.is_reader:
        recorded = replace(model, database=database)
        provider = recorded.metered(provider, Purpose.BENCHMARK, prices=prices)
    return Model(provider, model.counter, sampling, prices, identity, profile)


def _bill(asked: Round) -> Iterator[str]:
    """Yield the estimated cost of a round, and its duration if the model runs here."""
    model = asked.model
    name = f"{model.identity['model']} at {model.identity['base_url']}"
    yield from bill(name, asked.loads(), model.prices)
    if model.profile.is_engine:
        yield f"  time: {_duration([job.tokens for job in asked.waiting()], model)}"


def _duration(tokens: Sequence[int], model: Model) -> str:
    """Estimate how long a local model takes for requests, from its speed at a short question."""
    try:
        speed = asyncio.run(probe_speed(model.provider, model.options))
    except ProviderError:
        speed = None  # the run itself reports the error
    if speed is None:
        return "unknown"
    seconds = sum(tokens) / speed.reads + len(tokens) * REPLY_TOKENS / speed.writes
    return f"about {figures.plural(max(1, round(seconds / 60)), 'minute')} on this machine"
