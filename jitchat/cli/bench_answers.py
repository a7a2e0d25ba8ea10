"""`jitchat bench locomo --answerer … --judge …`: what it may cost, then answers and judgements."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from jitchat import __version__, models
from jitchat.bench import answers as bench
from jitchat.bench.answer_report import answer_table, answers_added
from jitchat.bench.answer_scores import answer_scores
from jitchat.bench.questions import Cases
from jitchat.bench.report import without_login
from jitchat.cli import output
from jitchat.cli.options import Flags, options_as
from jitchat.errors import KeyRefused, ProviderError
from jitchat.settings import Settings
from jitchat.text.figures import counted
from jitchat.text.sanitize import shortened

_READER = "reader"
_REASON_LENGTH = 400
"""Characters of a failure's reason."""


@dataclass(frozen=True, slots=True)
class AnswerFlags:
    """What was given of answering and judging."""

    answerer: str | None
    judge: str | None
    answers: Path | None
    parallel: int
    yes: bool
    input_price: float | None
    output_price: float | None
    judge_input_price: float | None
    judge_output_price: float | None

    def with_answerer(self, flags: Flags) -> Flags:
        """Make the answerer the model of the settings, for the windows are planned for it."""
        if self.judge is not None and self.answerer is None:
            raise click.UsageError("--judge needs --answerer: there is nothing to judge.")
        if self.judge == _READER:
            raise click.UsageError(
                "--judge: the reader cannot judge, it only quotes. Name a provider's model."
            )
        return flags if self.answerer is None else with_model(flags, self.answerer)

    def require_writable(self) -> None:
        """Refuse a file for `--answers` that takes none, before anything is measured.

        Raises:
            BenchFailed: It cannot be written.

        """
        if self.answerer is None or self.answers is None:
            return
        if why := output.why_unwritable(self.answers):
            raise bench.unusable(self.answers, why)

    def prices(self) -> tuple[bench.Price, bench.Price]:
        """Say what the answerer and the judge charge: one model has one price, the reader none."""
        same = self.judge == self.answerer
        answerer = bench.Price(self.input_price, self.output_price)
        if self.answerer == _READER:
            answerer = bench.Price(0.0, 0.0)
        sent, replied = self.judge_input_price, self.judge_output_price
        return answerer, bench.Price(
            answerer.input if same and sent is None else sent,
            answerer.output if same and replied is None else replied,
        )


def with_model(flags: Flags, model: str) -> Flags:
    """Choose the reader, or a model of the provider that is configured."""
    given = {"provider.name": _READER}
    if model != _READER:
        settings, key = flags.settings(), "provider.name"
        implied = settings.origin(key) == "default" and model.strip()
        named = {} if implied or settings.provider.name != _READER else {key: "openai"}
        given = {"provider.model": model} | named
    return Flags(given=given).over(flags)


def _price_option(who: str, whose: str, way: str) -> Any:  # noqa: ANN401  click's decorator
    about = f"{whose} price of a million {way} tokens."
    price = click.FloatRange(min=0)
    return click.option(f"--{who}{way}-price", type=price, metavar="USD", help=about)


answer_options = options_as(
    "answering",
    AnswerFlags,
    click.option(
        "--answerer",
        metavar="MODEL",
        help="Answer too, by this model of the provider's, or reader.",
    ),
    click.option("--judge", metavar="MODEL", help="Have the answers judged by this model."),
    click.option(
        "--answers",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Keep replies here, so that a run that was stopped goes on; by default beside"
        " OUT, else where `jitchat paths` says.",
    ),
    click.option(
        "--parallel",
        type=click.IntRange(1, 64),
        default=4,
        show_default=True,
        metavar="N",
        help="Requests at once.",
    ),
    click.option("--yes", is_flag=True, help="Send without asking whether the cost is right."),
    _price_option("", "The answerer's", "input"),
    _price_option("", "The answerer's", "output"),
    _price_option("judge-", "The judge's", "input"),
    _price_option("judge-", "The judge's", "output"),
)


def make_cases(answering: AnswerFlags, settings: Settings) -> Cases | None:
    """Make what takes the requests as they are planned; None where nothing will be answered."""
    return Cases(models.system_text(settings)) if answering.answerer is not None else None


def answer_all(
    answering: AnswerFlags, flags: Flags, cases: Cases, result: dict[str, Any], out: Path | None
) -> tuple[list[Table], dict[str, Any]]:
    """Send what has no reply yet; the tables, and `result` with what came of it.

    `flags` name the answerer already.

    Raises:
        BenchFailed: It was not confirmed, or cannot go on.

    """
    answerer_price, judge_price = answering.prices()
    answerer, judge = _model(flags.settings(), answerer_price), None
    if answering.judge is not None:
        judge = _model(with_model(flags, answering.judge).settings(), judge_price)
    beside = out.parent / f"{out.stem}.answers.jsonl" if out else None
    path = answering.answers or beside or flags.paths().answers
    with bench.opened_log(path) as log:
        run = bench.Answering(cases.planned, answerer, judge, result["data"]["sha256"], log)
        if bills := list(_bills(run)):
            output.say("\n".join(bills), err=True)
            output.require_yes(given=answering.yes)
        _send_all(run, answering.parallel, path)
        _tell_failures(run, log.first_failure)
    reached = answer_scores(list(run.results()), judged=judge is not None)
    title = f"answered by {answering.answerer}" + f", judged by {answering.judge}" * bool(judge)
    tables = [answer_table(mode, scores, title) for mode, scores in reached.items()]
    return tables, answers_added(result, reached, run.answers, run.judgements())


def _model(settings: Settings, price: bench.Price) -> bench.Model:
    if warning := models.unencrypted_keys(settings):
        output.warn(warning)
    model = models.resolve_model(settings)
    profile = model.profile
    identity: dict[str, object] = {"provider": profile.name, "model": model.name}
    if profile.is_reader:
        identity["version"] = __version__
    else:
        identity |= {
            "base_url": without_login(profile.base_url),
            "temperature": profile.sampling.temperature,
        }
    provider = models.make_provider(profile, model.name, model.counter)
    lacks_key = models.lacks_key(profile)
    return bench.Model(provider, model.counter, profile.sampling, price, identity, lacks_key)


def _bills(run: bench.Answering) -> Iterator[str]:
    """Say what each round that has something to send may cost; nothing for the reader.

    Raises:
        KeyRefused: It lacks the key that it needs.

    """
    judging, judge_load = run.judgements(), run.judge_load()
    rounds = [(run.answers, run.loads())]
    if judging is not None and judge_load is not None:
        rounds.append((judging, [judge_load]))
    for asked, loads in rounds:
        identity = asked.model.identity
        if loads and asked.model.lacks_key:
            raise KeyRefused(
                f"Nothing was sent: {identity['base_url']} wants a key, and none is set.",
                f"Run `jitchat keys set {identity['provider']}`, or set the variable for it.",
            )
        if loads and identity["provider"] != _READER:
            where = f"{identity['model']} at {identity['base_url']}"
            yield from bench.bill(where, loads, asked.model.price)


def _send_all(run: bench.Answering, parallel: int, path: Path) -> None:
    """Send everything; Ctrl+C leaves what came."""
    try:
        _send("answers", run.answers, parallel)
        judging = run.judgements()
        if judging is not None:
            _send("judgements", judging, parallel)
    except KeyboardInterrupt:
        output.say(f"\nStopped. What came is kept in {path}; run it again to go on.", err=True)
        raise


def _send(label: str, asked: bench.Round, parallel: int) -> None:
    if waiting := sum(asked.waiting()):
        with output.progress(label, waiting) as advance:
            asyncio.run(asked.run(parallel, advance))


def _tell_failures(run: bench.Answering, first: ProviderError | None) -> None:
    judging = run.judgements()
    failed = sum(run.answers.waiting()) + (sum(judging.waiting()) if judging else 0)
    if not failed:
        return
    requests, them = counted(failed, "request"), "it" if failed == 1 else "them"
    why = f" The first failure: {shortened(str(first), _REASON_LENGTH)}" if first else ""
    output.say(f"{requests} failed; run it again to send {them} again.{why}", err=True)
