"""`jitchat bench`: how well retrieval finds what it should, what it costs, and what is answered.

With --answerer, a model answers LoCoMo's questions, and with --judge one judges the answers: what
that may cost is told and confirmed first.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from jitchat import __version__, models
from jitchat.bench import answers, asking, haystack, questions, report, scaling
from jitchat.bench.output import without_login
from jitchat.bench.scores import Outcome, answer_scores, mode_scores, paired_scores
from jitchat.cli import bench_options, observed, options, output, recall
from jitchat.cli.lab_service import answer_cap, probe_speed
from jitchat.errors import BenchFailed, KeyRefused, ProviderError
from jitchat.index.embedder import Embedder
from jitchat.paths import absolute
from jitchat.providers.catalogue.table import Prices, presets
from jitchat.settings import Settings
from jitchat.text import figures, sanitize
from jitchat.values import Mode

_READER, _LOCAL = "reader", "local"
_SEED = 1
"""By which an answer of a model that runs here is sampled."""
_REASON_LENGTH = 400
"""Characters of a failure's reason."""


def _price(whose: str, way: str) -> Any:  # noqa: ANN401  as its field's type
    about = f"{whose} price of a million {way} tokens."
    return options.option(about, type=click.FloatRange(min=0), metavar="USD")


@dataclass(frozen=True, slots=True)
class AnswerFlags:
    answerer: str | None = options.option(
        "Answer too, by this model of the provider's, local, local/MODEL, or reader.",
        metavar="MODEL",
    )
    judge: str | None = options.option("Have the answers judged by this model.", metavar="MODEL")
    answers: Path | None = options.option(  # noqa: RUF009  it makes a field
        "Keep replies here, so that a run that was stopped goes on; by default beside"
        " OUT, else where `jitchat paths` says.",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
    )
    parallel: int = options.option(
        "Requests at once.",
        type=click.IntRange(1, 64),
        default=4,
        show_default=True,
        metavar="N",
    )
    yes: bool = options.option("Send without asking whether the cost is right.", is_flag=True)
    input_price: float | None = _price("The answerer's", "input")
    output_price: float | None = _price("The answerer's", "output")
    judge_input_price: float | None = _price("The judge's", "input")
    judge_output_price: float | None = _price("The judge's", "output")

    def with_answerer(self, flags: options.Flags) -> options.Flags:
        """Make the answerer the model of the settings, for the windows are planned for it."""
        if self.judge is not None and self.answerer is None:
            raise click.UsageError("--judge needs --answerer: there is nothing to judge.")
        if self.judge == _READER:
            raise click.UsageError(
                "--judge: the reader cannot judge, it only quotes. Name a provider's model."
            )
        return flags if self.answerer is None else with_model(flags, self.answerer)

    def require_writable(self) -> None:
        if self.answerer is None or self.answers is None:
            return
        if why := output.why_unwritable(self.answers):
            raise answers.unusable(self.answers, why)

    def prices(self) -> tuple[Prices, Prices]:
        """Say what the answerer and the judge charge: one model has one price, the reader none."""
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
    """Choose the reader, a model that runs here, or one of the provider that is configured."""
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


@click.group("bench")
def bench_command() -> None:
    """Measure what retrieval finds, and what it costs."""


bench_command.add_command(recall.recall_command)
bench_command.add_command(observed.observe_command)


@bench_command.command("locomo", cls=options.SharingCommand)
@click.option(
    "--data", type=click.Path(path_type=Path), required=True, metavar="FILE", help="LoCoMo's JSON."
)
@options.options_as("drawn", bench_options.SampleFlags)
@options.options_as("measuring", bench_options.MeasureFlags)
@options.options_as("answering", AnswerFlags)
@options.endpoint_options
def locomo_command(
    flags: options.Flags,
    data: Path,
    drawn: bench_options.SampleFlags,
    measuring: bench_options.MeasureFlags,
    answering: AnswerFlags,
) -> None:
    """Ask LoCoMo's questions and see whether their evidence is found.

    Sends nothing, unless --answerer names who is to answer them as well.
    """
    flags = answering.with_answerer(measuring.with_embedder(flags))
    measuring.require_writable()
    answering.require_writable()
    settings = flags.settings()
    talks, sample = drawn.draw(questions.read_labelled(data, questions.LOCOMO))
    for doubt in questions.label_warnings(talks):
        output.say(doubt, err=True)
    embedder = models.make_embedder(settings, flags.paths())
    cases = None
    if answering.answerer is not None:  # takes the requests as they are planned
        cases = asking.Cases(models.system_text(settings))
    outcomes, unfit = _measure_recall(talks, embedder, settings, measuring.modes, cases)
    scores = {mode: mode_scores(found) for mode, found in outcomes.items() if found}
    asked = sum(len(talk.questions) for talk in talks)
    for mode, missed in unfit.items():
        what = f"{mode.value}: does not fit for {missed:,} of {figures.plural(asked, 'question')}."
        output.say(f"{what} {asking.WIDER}", err=True)
    output.print_tables(
        table
        for mode, reached in scores.items()
        for table in report.tables(mode, reached, embedder.id)
    )
    output.emit("")
    fields = report.result_fields(data, embedder.id, settings, scores, unfit, sample)
    if cases is not None:
        tables, fields = _answer_all(answering, flags, cases, fields, measuring.json)
        output.print_tables(tables)
        output.emit("")
    if measuring.json is not None:
        output.write_json(measuring.json, fields)


def _measure_recall(
    talks: Sequence[questions.LabelledConversation],
    embedder: Embedder,
    settings: Settings,
    modes: Sequence[Mode],
    cases: asking.Cases | None,
) -> tuple[dict[Mode, list[Outcome]], Counter[Mode]]:
    """Ask every question in every mode; and how many do not fit, by mode.

    Raises:
        BenchFailed: None fits in any mode.

    """
    outcomes: dict[Mode, list[Outcome]] = {mode: [] for mode in modes}
    unfit: Counter[Mode] = Counter()
    model = models.resolve_model(settings)
    counter, budget = model.counter, model.asked_budget
    with output.progress("questions", sum(len(talk.questions) for talk in talks)) as advance:
        for talk in (talk for talk in talks if talk.questions):
            with asking.indexed(talk.found, embedder, talk.asked_at) as memory:
                conversation = asking.OpenConversation(memory, counter, budget)
                for question in talk.questions:
                    for mode in modes:
                        if (outcome := conversation.ask(question, mode, cases)) is None:
                            unfit[mode] += 1
                        else:
                            outcomes[mode].append(outcome)
                    advance(1)
    if not any(outcomes.values()):
        raise BenchFailed(
            f"No question fits {budget.limit:,} tokens in {', '.join(modes)}.", asking.WIDER
        )
    return outcomes, unfit


def _answer_all(
    answering: AnswerFlags,
    flags: options.Flags,
    cases: asking.Cases,
    result: dict[str, Any],
    out: Path | None,
) -> tuple[list[Table], dict[str, Any]]:
    """Send what has no reply yet; the tables, and `result` with what came of it.

    `flags` name the answerer already.
    """
    answerer_price, judge_price = answering.prices()
    answerer, judge = _model(flags.settings(), answerer_price), None
    if answering.judge is not None:
        judge = _model(with_model(flags, answering.judge).settings(), judge_price)
    beside = out.parent / f"{out.stem}.answers.jsonl" if out else None
    path = answering.answers or beside or flags.paths().answers
    with answers.opened_log(path) as log:
        run = answers.Answering(cases.planned, answerer, judge, result["data"], log)
        if bills := list(_bills(run)):
            output.say("\n".join(bills), err=True)
            if not all(each.runs_here for each in (answerer, judge) if each is not None):
                output.require_yes(given=answering.yes)
            output.say(f"Replies are kept in {path}; run it again to go on.", err=True)
        _send_all(run, answering.parallel, path)
        _tell_failures(run, log.first_failure)
    results = list(run.results())
    reached = answer_scores(results, judged=judge is not None)
    pairs = list(paired_scores(results))
    title = f"answered by {answering.answerer}" + f", judged by {answering.judge}" * bool(judge)
    tables = [report.answer_table(mode, scores, title) for mode, scores in reached.items()]
    if pairs:
        tables.append(report.paired_table(pairs))
    return tables, report.answers_added(result, reached, pairs, run.answers, run.judgements())


def _model(settings: Settings, prices: Prices) -> answers.Model:
    if warning := models.unencrypted_keys(settings):
        output.warn(warning)
    model = models.resolve_model(settings)
    profile = model.profile
    identity: dict[str, object] = {"provider": profile.name, "model": model.name}
    sampling = profile.sampling
    if profile.is_engine:  # one process, which answers one request at a time and costs nothing
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
    lacks_key = models.lacks_key(profile)
    return answers.Model(
        provider, model.counter, sampling, prices, identity, lacks_key, profile.is_embedded
    )


def _bills(run: answers.Answering) -> Iterator[str]:
    """Say what each round that has something to send may cost; nothing for the reader."""
    all_loads = (run.loads(), run.judge_loads())
    for asked, loads in zip(run.rounds(), all_loads, strict=False):  # without a judge, one round
        identity = asked.model.identity
        if loads and asked.model.lacks_key:
            raise KeyRefused(
                f"Nothing was sent: {identity['base_url']} wants a key, and none is set.",
                f"Run `jitchat keys set {identity['provider']}`, or set the variable for it.",
            )
        if loads and identity["provider"] != _READER:
            where = f"{identity['model']} at {identity['base_url']}"
            yield from answers.bill(where, loads, asked.model.prices)
            if asked.model.runs_here:
                yield _time(loads, asked.model)


def _time(loads: Sequence[answers.Load], model: answers.Model) -> str:
    """Say how long a model that runs here takes, by a short question that it is asked first."""
    try:
        speed = asyncio.run(probe_speed(model.provider, model.options))
    except ProviderError:
        speed = None  # the run itself says why
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
        output.say(f"\nStopped. What came is kept in {path}; run it again to go on.", err=True)
        raise


def _tell_failures(run: answers.Answering, first: ProviderError | None) -> None:
    failed = sum(sum(asked.waiting()) for asked in run.rounds())
    if not failed:
        return
    requests, them = figures.plural(failed, "request"), "it" if failed == 1 else "them"
    why = f" The first failure: {sanitize.shorten(str(first), _REASON_LENGTH)}" if first else ""
    output.say(f"{requests} failed; run it again to send {them} again.{why}", err=True)


_SIZES, _LARGE, _MILLION = "20,40,80,160,320,1000", "10000,100000", 1_000_000
_WIDEST = 100
"""Columns of a plot, at most."""


@bench_command.command("scaling", cls=options.SharingCommand)
@click.option(
    "--turns",
    metavar="LIST",
    help=f"Lengths of the conversation.  [default: {_SIZES}, and {_LARGE} unless turns are long]",
)
@click.option(
    "--turn-length",
    "length",
    type=click.Choice(["short", "usual", "long"]),
    default="usual",
    show_default=True,
    help="About 2, 30 or 1,500 words a turn.",
)
@options.options_as("measuring", bench_options.MeasureFlags)
@click.option(
    "--million",
    is_flag=True,
    help="A million turns, too: 3 GB of disk, 4 GB of memory, a quarter of an hour.",
)
@click.option("--plot", is_flag=True, help="Draw the tokens, too.")
@options.location_options
def scaling_command(  # noqa: PLR0913, PLR0917  its options
    flags: options.Flags,
    turns: str | None,
    length: str,
    measuring: bench_options.MeasureFlags,
    million: bool,
    plot: bool,
) -> None:
    """Grow a synthetic conversation and ask for one fact in it. Sends nothing."""
    usual = _SIZES if length == "long" else f"{_SIZES},{_LARGE}"
    sizes = _sizes(usual if turns is None else turns)
    sizes += [_MILLION] * (million and _MILLION not in sizes)
    flags = measuring.with_embedder(flags)
    settings = flags.settings()
    measuring.require_writable()
    embedder, budget = settings.embedder, models.resolve_model(settings).asked_budget
    wanted = scaling.MeasureOptions(
        embedder.name,
        embedder.model,
        str(absolute(Path(embedder.path))) if embedder.path else None,
        str(flags.paths().models),
        settings.model_name(),
        budget,
        tuple(measuring.modes),
    )
    talks = [haystack.Haystack(size, haystack.Length(length)) for size in sizes]
    with output.progress("turns", sum(map(scaling.steps, sizes))) as advance:
        measured = [scaling.measure(wanted, talk, advance) for talk in talks]
    output.print_tables(report.scaling_tables(measured, length, budget.limit))
    output.emit("")
    if plot:
        width = min(output.terminal_width() or _WIDEST, _WIDEST)
        for drawn in report.plots(measured, width):
            output.emit(f"{drawn}\n")
    if measuring.json is not None:
        output.write_json(measuring.json, report.scaling_fields(measured, length, settings))


def _sizes(listed: str) -> list[int]:
    """Read what `--turns` lists: each once, the smallest first."""
    try:
        sizes = sorted({int(piece) for piece in listed.split(",")})
    except ValueError:
        sizes = [0]
    if sizes[0] < 1:
        raise click.BadParameter(f"--turns: {listed!r}. Give whole numbers above 0: 20,40,80.")
    return sizes
