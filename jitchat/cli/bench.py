"""`jitchat bench`: what retrieval finds, what it costs, and how questions are answered.

With --answerer a model answers LoCoMo's questions, and with --judge a model judges the answers. The
estimated cost is shown first and must be confirmed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from jitchat import models
from jitchat.bench import asking, dialogue, follow_ups, haystack, questions, report, scaling
from jitchat.bench.memory import Measuring, RunnerName
from jitchat.bench.observation import Replaying
from jitchat.bench.recall import by_methods, in_modes, measure
from jitchat.bench.scores import ALL, LEXICAL, embedder_name
from jitchat.cli import cold_store, options, output
from jitchat.cli.bench_options import (
    ANY_FORMAT,
    AnswerFlags,
    QuestionFlags,
    ResultFlags,
    data_option,
    modes_option,
    show,
)
from jitchat.errors import EmbedderUnavailable, UsageError
from jitchat.settings import sections, small_models
from jitchat.small_models.document_writer import ModelDocumentWriter
from jitchat.synthesis.document_writer import ExtractiveWriter
from jitchat.text.figures import plural
from jitchat.tools.offering import Asking
from jitchat.values import USUAL_MODES, Mode, Role


@click.group("bench")
def bench_command() -> None:
    """Measure what retrieval finds and what it costs."""


def _setup(flags: options.Flags, modes: tuple[Mode, ...] = USUAL_MODES) -> asking.Setup:
    settings = flags.settings()
    model = models.resolve_model(settings)
    embedder = models.make_embedder(settings, flags.paths())
    asks = Asking(settings.tools.request_context)
    return asking.Setup(embedder, model.counter, model.asked_budget, modes, asks)


@bench_command.command("locomo", cls=options.SharingCommand)
@data_option("LoCoMo's JSON file.")
@modes_option
@options.measuring_options
def locomo_command(
    flags: options.Flags,
    data: Path,
    modes: tuple[Mode, ...],
    measuring: QuestionFlags,
    answering: AnswerFlags,
) -> None:
    """Measure how much of LoCoMo's evidence is found in each mode.

    Sends nothing unless --answerer names a model to answer the questions.
    """
    flags = answering.with_answerer(flags)
    settings = flags.settings()
    file = measuring.read(data, questions.LOCOMO)
    setup = _setup(flags, modes)
    cases = answering.cases(settings)
    with output.progress("questions", file.asked) as advance:
        measured = measure(file.talks, setup.embedder, in_modes(setup, cases), advance)
    file.require_fitting(measured, setup.budget.limit)
    name = embedder_name(setup.embedder.id)
    reached = {mode: measured.outcomes[mode] for mode in modes if mode in measured.outcomes}
    for mode, outcomes in reached.items():
        show(report.mode_tables(mode, outcomes, f"{name}, {setup}"))
    result: dict[str, object] = {
        "data": file.fields,
        "embedder": name,
        "modes": {mode: report.mode_fields(outcomes) for mode, outcomes in reached.items()},
        "does_not_fit": measured.unfit,
    }
    result |= answering.answer(flags, cases, file.fields, measuring.json)
    measuring.write(settings, result)


_BOTH = "both"


@bench_command.command("memory", cls=options.SharingCommand)
@data_option(f"File {ANY_FORMAT}")
@options.flag(
    "--runner document|entries|both",
    "Kind of memory.",
    type=click.Choice([*(name.value for name in RunnerName), _BOTH]),
    default=RunnerName.DOCUMENT.value,
)
@options.measuring_options
def memory_command(
    flags: options.Flags,
    data: Path,
    runner: str,
    measuring: QuestionFlags,
    answering: AnswerFlags,
) -> None:
    """Measure which questions a memory's windows can answer.

    Sessions are stored in one of two kinds of memory. document: one memory document, rewritten at
    the end of each session with three operations on the store. entries: an index entry for each
    message, embeddings in batches of ten, and retrieval. A session ends after twenty minutes
    without a message. If a model is set under [writer] in the configuration, it writes the
    document.

    Sends nothing else unless --answerer names a model to answer the questions.
    """
    flags = answering.with_answerer(flags)
    settings, paths = flags.settings(), flags.paths()
    file = measuring.read(data)
    talks = [talk for talk in file.talks if talk.questions or talk.abstentions]
    names = list(RunnerName) if runner == _BOTH else [RunnerName(runner)]
    model, setup = models.resolve_model(settings), _setup(flags)
    asks = small_models.address_of(settings, "writer") is not None
    with (
        cold_store.usage_log(paths, wanted=asks) as database,
        output.progress("conversations", len(talks) * len(names)) as advance,
    ):
        metering = replace(model, database=database).metering()
        memories = Measuring(
            setup,
            lambda: (
                model.sized_models(ModelDocumentWriter, "writer", metering) or ExtractiveWriter()
            ),
            answering.cases(settings),
        )
        for name in names:
            for talk in talks:
                memories.run(talk, name)
                advance(1)
    measured = memories.measured
    file.require_fitting(measured, setup.budget.limit)
    asked = plural(file.asked, "question")
    title = f"{file.name}: {plural(len(talks), 'conversation')}, {asked}, {setup}"
    show([report.ingestion_table(title, memories.ingestions), report.held_table(measured.outcomes)])
    result: dict[str, object] = {
        "data": file.fields,
        "runners": {name: report.memory_fields(memories, name) for name in names},
    }
    result |= answering.answer(flags, memories.cases, file.fields, measuring.json)
    measuring.write(settings, result)


@bench_command.command("observe", cls=options.SharingCommand)
@data_option(f"File {ANY_FORMAT}")
@options.measuring_options
def observe_command(flags: options.Flags, data: Path, measuring: QuestionFlags) -> None:
    """Measure how many answers observations keep.

    Each labelled conversation is replayed in the mode observe, as in the chat: a window is planned
    before each message, and turns that are due are observed after each answer, with the built-in
    rules. For each question that a single statement answers, the benchmark then checks whether that
    text is in its window, and compares this with the most recent turns of the same total size.
    Sends nothing.
    """
    settings = flags.settings()
    file = measuring.read(data, needs_evidence=True)
    setup = _setup(flags)
    rules = models.observe_rules(settings)
    replaying = Replaying(setup.counter, setup.budget, rules, setup.embedder)
    with output.progress("turns", sum(len(talk.found.turns) for talk in file.talks)) as advance:
        for talk in file.talks:
            replaying.run(talk, advance)
    figures = report.observe_fields(replaying.results, setup.budget.limit)
    asked = f"{figures['asked']:,} questions of single facts, {setup}"
    show([report.observe_table(f"{data.name}: {asked}", replaying.results.kept)])
    output.say(report.observe_summary(figures))
    measuring.write(settings, {"data": file.fields, "observe": figures})


@bench_command.command("recall", cls=options.SharingCommand)
@options.flag("--data FILE…", f"One or more files {ANY_FORMAT}", type=options.PATH, multiple=True)
@click.argument("more", type=options.PATH, nargs=-1, metavar="")
@options.flag(
    "--embedder LIST",
    "Embedders: lexical or known names, comma-separated (repeatable). Those not installed on"
    " this machine are skipped.  [default: the configured one]",
    name="listed",
    multiple=True,
)
@options.flag(
    "--by",
    "Print a row per category or only totals; OUT always contains both.",
    type=click.Choice(["category", ALL]),
    default="category",
)
@options.recall_options
def recall_command(  # noqa: PLR0913, PLR0917  its options
    flags: options.Flags,
    data: Sequence[Path],
    more: Sequence[Path],
    listed: Sequence[str],
    by: str,
    measuring: QuestionFlags,
) -> None:
    """Compare how much labelled evidence jit and plain baselines find.

    Each question is run through jit and, in the same run, through three baselines: BM25 (k1 1.2,
    b 0.75) over Porter's stems without stop words, cosine similarity of the embedder's vectors, and
    the reciprocal rank fusion of both (k 60).

    any@6 and all@6 are the shares of questions for which any or all of the evidence is among the
    first six turns; window is the share for which it is in the window, whole or as an excerpt,
    recent or recalled. A baseline's window is jit's with the recalled turns replaced by the
    baseline's best turns, whole, within the same number of tokens; a turn that does not fit is
    skipped.

    Sends nothing.
    """
    files = [measuring.read(path, needs_evidence=True) for path in _different((*data, *more))]
    figures: dict[str, dict[str, object]] = {file.name: {} for file in files}
    used: dict[str, str] = {}
    for name, setup in _setups(flags, listed):
        used[name] = embedder_name(setup.embedder.id)
        for file in files:
            with output.progress(f"{file.name}, {name}", file.asked) as advance:
                measured = measure(file.talks, setup.embedder, by_methods(setup), advance)
            file.require_fitting(measured, setup.budget.limit)
            figures[file.name][name] = report.method_fields(measured)
            asked = plural(file.asked, "question")
            title = f"{file.name}: {asked}, {used[name]}, window in jit, {setup}"
            show([report.recall_table(title, measured, has_categories=by != ALL)])
    about = {"files": {file.name: file.fields for file in files}, "embedders": used}
    measuring.write(flags.settings(), about | {"datasets": figures})


def _setups(flags: options.Flags, listed: Sequence[str]) -> Iterator[tuple[str, asking.Setup]]:
    """Yield the setup with each embedder on this machine, and its requested name.

    Raises:
        EmbedderUnavailable: None is on this machine.
        UsageError: No embedder has that name.

    """
    text = ",".join(listed) or flags.settings().embedder.name
    given = [embedder_name(name.strip()) for name in text.split(",") if name.strip()]
    names = list(dict.fromkeys(given))
    known = (*sections.SETTINGS["embedder.name"].choices, LEXICAL)
    is_loaded = False
    for name in names:
        options.known_name("--embedder", name, known)
        own = options.Flags(given={"embedder.name": "none" if name == LEXICAL else name})
        try:
            setup = _setup(own.over(flags))
        except EmbedderUnavailable as error:
            if name == names[-1] and not is_loaded:
                raise
            output.warn(f"{name} is skipped. {error}")
        else:
            is_loaded = True
            yield name, setup


def _different(paths: Sequence[Path]) -> list[Path]:
    """List each file once.

    Raises:
        UsageError: No file is given, or two have the same name.

    """
    named: dict[str, Path] = {}
    for path in paths:
        if named.setdefault(path.stem, path) != path:
            what = f"Two files are named {path.stem}, so their figures would have the same name."
            raise UsageError(what, "Rename one.")
    if not named:
        raise UsageError("No file is given.", "Give one or more with --data.")
    return list(named.values())


@bench_command.command("follow-ups", cls=options.SharingCommand)
@options.measuring_options
def follow_ups_command(flags: options.Flags, measuring: ResultFlags) -> None:
    """Measure how often what a follow-up is about is in its window.

    The 167 follow-ups ("make it async", "the second row"), written by hand in ten languages, are
    asked 0, 1, 3, 10 and 30 exchanges of other talk after their subject. Sends nothing.
    """
    _measure_cases(flags, measuring, "follow-ups", follow_ups.follow_ups())


@bench_command.command("corrections", cls=options.SharingCommand)
@options.measuring_options
def corrections_command(flags: options.Flags, measuring: ResultFlags) -> None:
    """Measure whether the newer of two statements is what a window says.

    The 204 cases, written by hand in ten languages, are two statements and a question; in a trap
    both statements hold. They are asked 0, 1, 3, 10 and 30 exchanges of other talk after the newer
    statement. Sends nothing.
    """
    _measure_cases(flags, measuring, "corrections", follow_ups.corrections())


def _measure_cases(
    flags: options.Flags, measuring: ResultFlags, name: str, cases: list[follow_ups.Case]
) -> None:
    measuring.require_writable()
    setup, steps = _setup(flags), len(cases) * len(follow_ups.DISTANCES)
    with output.progress(name, steps) as advance:
        results = follow_ups.measure(cases, setup, advance=advance)
    groups = follow_ups.by_kind(results)
    figures = {kind: follow_ups.figures_of(group) for kind, group in groups.items()}
    embedder = embedder_name(setup.embedder.id)
    show([report.cases_table(f"{name}: {embedder}, in jit, {setup}", figures)])
    measuring.write(flags.settings(), {"embedder": embedder, "kinds": figures})


@bench_command.command("dialogue", cls=options.SharingCommand)
@data_option(f"File {ANY_FORMAT}")
@options.measuring_options
def dialogue_command(flags: options.Flags, data: Path, measuring: QuestionFlags) -> None:
    """Measure what whole chats cost in jit, message by message, compared with full.

    Each message is planned with the window that was sent before it. A provider's prompt cache is
    simulated, with three prices. After the last message, the questions are asked. Sends nothing.
    """
    file, setup = measuring.read(data, needs_evidence=True), _setup(flags)
    turns = [turn for talk in file.talks for turn in talk.found.turns]
    messages = sum(turn.role is Role.USER for turn in turns)
    with output.progress("messages", messages) as advance:
        chats = dialogue.measure(file.talks, setup, advance)
    figures = {name: dialogue.figures_of([chat]) for name, chat in chats.items()}
    figures[ALL] = dialogue.figures_of(list(chats.values()))
    embedder = embedder_name(setup.embedder.id)
    show([report.dialogue_table(f"{file.name}: {embedder}, in jit, {setup}", figures)])
    measuring.write(flags.settings(), {"data": file.fields, "embedder": embedder, "chats": figures})


_SIZES = "20,40,80,160,320,1000"
_LARGE = "10000,100000"


@bench_command.command("scaling", cls=options.SharingCommand)
@options.flag(
    "--turns LIST",
    f"Lengths of the conversation.  [default: {_SIZES}, and of short turns {_LARGE}]",
)
@options.flag(
    "--turn-length LIST",
    "Lengths of a turn: chat, short, usual or long, about 350, 2, 30 or 1,500 words.",
    name="lengths",
    type=lambda text: options.names_of("--turn-length", text, haystack.Length),
    default="chat,usual",
)
@modes_option
@options.measuring_options
def scaling_command(
    flags: options.Flags,
    turns: str | None,
    lengths: tuple[haystack.Length, ...],
    modes: tuple[Mode, ...],
    measuring: ResultFlags,
) -> None:
    """Measure the cost of finding one fact as a conversation grows.

    The conversation is synthetic. A million turns take 3 GB of disk, 4 GB of memory and about 15
    minutes. Sends nothing.
    """
    brief = (haystack.Length.SHORT, haystack.Length.USUAL)
    usual = {each: f"{_SIZES},{_LARGE}" if each in brief else _SIZES for each in lengths}
    sizes = {each: _sizes(usual[each] if turns is None else turns) for each in lengths}
    measuring.require_writable()
    settings, setup = flags.settings(), _setup(flags, modes)
    measured = {}
    for length in lengths:
        talks = [haystack.Haystack(size, length) for size in sizes[length]]
        steps = sum(scaling.steps(talk.size) for talk in talks)
        with output.progress(f"{length} turns", steps) as advance:
            measured[length] = [scaling.measure(setup, talk, advance) for talk in talks]
        show(report.scaling_tables(measured[length], length, str(setup)))
    measuring.write(settings, {"phrasings": len(haystack.PHRASINGS), "turn_lengths": measured})


def _sizes(listed: str) -> list[int]:
    """Parse the list of `--turns`: each length once, smallest first."""
    try:
        sizes = sorted({int(piece) for piece in listed.split(",")})
    except ValueError:
        sizes = [0]
    if sizes[0] < 1:
        what = f"{listed!r} is not a list of positive whole numbers, such as 20,40,80."
        raise click.BadParameter(f"--turns: {what}")
    return sizes
