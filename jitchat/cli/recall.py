"""`jitchat bench recall`: how much of the evidence retrieval finds, compared with baselines."""

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
    """Parse lists of embedder names, each once; `none` becomes `lexical`."""
    names = (name.strip() for text in given for name in text.split(","))
    return tuple(dict.fromkeys(embedder_name(name) for name in names if name))


@dataclass(frozen=True, slots=True)
class RecallFlags:
    embedder: Sequence[str] = options.option(
        "Embedders: lexical or known names, comma-separated (repeatable). Those not installed on"
        " this machine are skipped.  [default: the configured one]",
        multiple=True,
        metavar="LIST",
    )
    model_path: str | None = bench_options.model_path_option()
    by: str = options.option(
        "Print a row per category or only totals; OUT always contains both.",
        type=click.Choice(["category", ALL]),
        default="category",
        show_default=True,
    )
    json: Path | None = bench_options.json_option()  # noqa: RUF009

    def embedders(self, flags: options.Flags) -> Iterator[tuple[str, Settings, Embedder]]:
        """Yield each embedder on this machine, with its requested name and its settings.

        Raises:
            EmbedderUnavailable: None is on this machine.
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
                output.warn(f"{name} is skipped. {error}")
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
    """The file's description, for OUT."""

    @property
    def asked(self) -> int:
        return sum(len(talk.questions) for talk in self.talks)


@click.command("recall", cls=options.SharingCommand)
@click.option(
    "--data", type=click.Path(path_type=Path), multiple=True, metavar="FILE…",
    help="One or more files in LoCoMo's, LongMemEval's or the labelled format, detected from the"
    " content.",
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
    """Compare how much labelled evidence jit and plain baselines find.

    Each question is run through jit and, in the same run, through three baselines: BM25 over words
    (k1 1.2, b 0.75), cosine similarity of the embedder's vectors, and the reciprocal rank fusion of
    both (k 60).

    any@6 and all@6 are the shares of questions for which any or all of the evidence is among the
    first six turns; window is the share for which it is in the window, whole or as an excerpt,
    recent or recalled. A baseline's window is jit's with the recalled turns replaced by the
    baseline's best turns, whole, within the same number of tokens; a turn that does not fit is
    skipped.

    Sends nothing.
    """
    bench_options.require_writable(measuring.json)
    files = [_read(path, drawn) for path in _different((*data, *more))]
    figures: dict[str, dict[str, object]] = {file.name: {} for file in files}
    used: dict[str, str] = {}
    for name, settings, embedder in measuring.embedders(flags):
        used[name] = embedder_name(embedder.id)
        for file in files:
            scores = _measured(file, name, embedder, settings)
            figures[file.name][name] = recall_report.method_fields(scores)
            about = f"{plural(file.asked, 'question')}, {used[name]}, window in jit"
            rows = scores if measuring.by != ALL else {ALL: scores[ALL]}
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


def _read(path: Path, drawn: bench_options.SampleFlags) -> LabelledFile:
    """Read a file, and report which questions are skipped.

    Raises:
        BenchFailed: The file cannot be read, or none of its questions has evidence.

    """
    read = questions.read_labelled(path)
    for doubt in questions.reading_warnings(read):
        output.say(f"{path.name}: {doubt}", err=True)
    talks = questions.with_evidence(read)
    total, labelled = (sum(len(each.questions) for each in some) for some in (read, talks))
    if labelled < total:
        skipped = f"skipped {total - labelled:,} of {plural(total, 'question')}"
        output.say(f"{path.name}: {skipped} whose evidence is not a turn", err=True)
    if not labelled:
        raise BenchFailed(
            f"{path} has no question whose evidence is a turn.", "Choose another file."
        )
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
    """Measure the questions of a file with one embedder.

    Raises:
        BenchFailed: No question fits.

    """
    model = models.resolve_model(settings)
    budget = model.asked_budget
    with output.progress(f"{file.name}, {name}", file.asked) as advance:
        found = measure(file.talks, embedder, model.counter, budget, advance)
    if found.unfit:
        missed = f"{found.unfit:,} of {plural(file.asked, 'question')}"
        output.say(f"{file.name}: {missed} did not fit the window.", err=True)
    if not found.found:
        raise BenchFailed(
            f"No question fits {budget.limit:,} tokens.", "Give a context size with --limit."
        )
    return recall_scores(found)
