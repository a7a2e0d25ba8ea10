"""`jitchat bench recall`: what retrieval finds of the evidence, beside what baselines find."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from jitchat import __version__, models
from jitchat.bench import questions, recall_report
from jitchat.bench.output import settings_fields
from jitchat.bench.recall import ByCategory, measure, recall_scores
from jitchat.bench.scores import ALL, embedder_name
from jitchat.cli import bench_options, options, output
from jitchat.errors import BenchFailed, EmbedderUnavailable, UsageError
from jitchat.index.embedder import Embedder
from jitchat.settings import Settings
from jitchat.text.figures import plural
from jitchat.weights.catalogue import sha256_of


def _names_of(given: Sequence[str]) -> tuple[str, ...]:
    """Read lists of names, each once; none is lexical."""
    names = (name.strip() for text in given for name in text.split(","))
    return tuple(dict.fromkeys(embedder_name(name) for name in names if name))


@dataclass(frozen=True, slots=True)
class RecallFlags:
    embedder: Sequence[str] = options.option(
        "lexical, or those that jitchat knows: a list, or several times. One that is not on this"
        " machine is left out.  [default: that of the settings]",
        multiple=True,
        metavar="LIST",
    )
    model_path: str | None = bench_options.model_path_option()
    by: str = options.option(
        "Whether each category has rows of its own; OUT has them anyway.",
        type=click.Choice(["category", ALL]),
        default="category",
        show_default=True,
    )
    json: Path | None = bench_options.json_option()  # noqa: RUF009

    def embedders(self, flags: options.Flags) -> Iterator[tuple[str, Settings, Embedder]]:
        """Load those that are on this machine, each by the name that it was asked for by.

        Raises:
            EmbedderUnavailable: None of them is.
            SettingsError: No embedder has that name.

        """
        names = _names_of(self.embedder) or (embedder_name(flags.settings().embedder.name),)
        loaded, lacking = 0, None
        for name in names:
            settings = bench_options.with_embedder(flags, name, self.model_path).settings()
            try:
                embedder = models.make_embedder(settings, flags.paths())
            except EmbedderUnavailable as error:
                lacking = error
                output.warn(f"{name} is left out. {error}")
            else:
                loaded += 1
                yield name, settings, embedder
        if lacking is not None and not loaded:
            raise lacking


@dataclass(frozen=True, slots=True)
class LabelledFile:
    name: str
    talks: Sequence[questions.LabelledConversation]
    fields: dict[str, object]
    """What it is, for OUT."""

    @property
    def asked(self) -> int:
        return sum(len(talk.questions) for talk in self.talks)


@click.command("recall", cls=options.SharingCommand)
@click.option(
    "--data", type=click.Path(path_type=Path), multiple=True, metavar="FILE…",
    help="In LoCoMo's form, LongMemEval's, or labelled; its content decides. More than one file"
    " may follow.",
)  # fmt: skip
@click.argument("more", type=click.Path(path_type=Path), nargs=-1, metavar="")
@options.options_as("drawn", bench_options.SampleFlags)
@options.options_as("measuring", RecallFlags)
@options.endpoint_options
def recall_command(
    flags: options.Flags,
    data: Sequence[Path],
    more: Sequence[Path],
    drawn: bench_options.SampleFlags,
    measuring: RecallFlags,
) -> None:
    """See whether the evidence of labelled questions is found, beside plain baselines.

    Each question is asked of the app in jit; and in the same run of BM25 over plain words (k1 1.2,
    b 0.75), of the embedder's bare cosine, and of the fusion of both by reciprocal ranks (k 60).

    any@6, all@6: for so many of the questions any, or all, of the evidence is among the first six
    turns. window: it is in the window, whole or as an excerpt, recent or recalled. A baseline's
    window is that of jit with its own best turns, whole, in place of what jit recalled, for at most
    as many tokens; a turn that does not fit the rest is passed over.

    Sends nothing.
    """
    bench_options.require_writable(measuring.json)
    files = [_read(path, drawn) for path in _different((*data, *more))]
    figures: dict[str, dict[str, object]] = {file.name: {} for file in files}
    used: dict[str, str] = {}
    for name, settings, embedder in measuring.embedders(flags):
        used[name] = embedder_name(embedder.id)
        for file in files:
            reached = _measured(file, name, embedder, settings)
            figures[file.name][name] = recall_report.method_fields(reached)
            about = f"{plural(file.asked, 'question')}, {used[name]}, window in jit"
            rows = reached if measuring.by != ALL else {ALL: reached[ALL]}
            output.print_tables([recall_report.recall_table(f"{file.name}: {about}", rows)])
            output.emit("")
    if measuring.json is not None:
        result = {
            "version": __version__,
            "settings": settings_fields(flags.settings()),
            "files": {file.name: file.fields for file in files},
            "embedders": used,
            "datasets": figures,
        }
        output.write_json(measuring.json, result)


def _different(paths: Sequence[Path]) -> list[Path]:
    """List each file once.

    Raises:
        UsageError: None is given, or two have one name.

    """
    named: dict[str, Path] = {}
    for path in paths:
        if named.setdefault(path.stem, path) != path:
            what = f"Two files are called {path.stem}: so would be their figures."
            raise UsageError(what, "Rename one.")
    if not named:
        raise UsageError("No file is given.", "Name one or more with --data.")
    return list(named.values())


def _read(path: Path, drawn: bench_options.SampleFlags) -> LabelledFile:
    """Read a file, and say what is left out of it.

    Raises:
        BenchFailed: It cannot be read, or no question of it has evidence.

    """
    read = questions.read_labelled(path)
    for doubt in questions.reading_warnings(read):
        output.say(f"{path.name}: {doubt}", err=True)
    talks = questions.with_evidence(read)
    total, labelled = (sum(len(each.questions) for each in some) for some in (read, talks))
    if labelled < total:
        left = f"questions left out, without evidence that is a turn: {total - labelled:,}"
        output.say(f"{path.name}: {left} of {total:,}", err=True)
    if not labelled:
        raise BenchFailed(f"{path} has no question with evidence that is a turn.", "Name another.")
    talks, sample = drawn.draw(talks)
    fields: dict[str, object] = {
        "path": str(path),
        "sha256": sha256_of(path),
        "conversations": sum(bool(talk.questions) for talk in talks),
        "without_evidence": total - labelled,
        **sample,
    }
    return LabelledFile(path.stem, talks, fields)


def _measured(file: LabelledFile, name: str, embedder: Embedder, settings: Settings) -> ByCategory:
    """Ask the questions of a file with one embedder.

    Raises:
        BenchFailed: None fits.

    """
    model = models.resolve_model(settings)
    budget = model.asked_budget
    with output.progress(f"{file.name}, {name}", file.asked) as advance:
        found = measure(file.talks, embedder, model.counter, budget, advance)
    if found.unfit:
        missed = f"{found.unfit:,} of {plural(file.asked, 'question')}"
        output.say(f"{file.name}: the window does not fit for {missed}.", err=True)
    if not found.found:
        raise BenchFailed(
            f"No question fits {budget.limit:,} tokens.", "Give a context size with --limit."
        )
    return recall_scores(found)
