"""`jitchat bench recall`: how much of the evidence retrieval finds, compared with baselines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from jitchat import models
from jitchat.bench import report
from jitchat.bench.recall import by_methods, measure
from jitchat.bench.scores import ALL, embedder_name
from jitchat.cli import bench_options, options, output
from jitchat.errors import EmbedderUnavailable, UsageError
from jitchat.index.embedder import Embedder
from jitchat.settings import Settings
from jitchat.text.figures import plural


@dataclass(frozen=True, slots=True)
class RecallFlags(bench_options.ResultFlags):
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

    def embedders(self, flags: options.Flags) -> Iterator[tuple[str, Settings, Embedder]]:
        """Yield each embedder on this machine, with its requested name and its settings.

        Raises:
            EmbedderUnavailable: None is on this machine.
            UsageError: No embedder has that name.

        """
        listed = ",".join(self.embedder) or flags.settings().embedder.name
        names = [embedder_name(name.strip()) for name in listed.split(",") if name.strip()]
        is_loaded = False
        for name in dict.fromkeys(names):
            settings = bench_options.with_embedder(flags, name, self.model_path).settings()
            try:
                embedder = models.make_embedder(settings, flags.paths())
            except EmbedderUnavailable as error:
                if name == names[-1] and not is_loaded:
                    raise
                output.warn(f"{name} is skipped. {error}")
            else:
                is_loaded = True
                yield name, settings, embedder


@click.command("recall", cls=options.SharingCommand)
@click.option(
    "--data", type=click.Path(path_type=Path), multiple=True, metavar="FILE…",
    help=f"One or more files {bench_options.ANY_FORMAT}",
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
    measuring.require_writable()
    files = [drawn.read(path, needs_evidence=True) for path in _different((*data, *more))]
    figures: dict[str, dict[str, object]] = {file.name: {} for file in files}
    used: dict[str, str] = {}
    for name, settings, embedder in measuring.embedders(flags):
        used[name] = embedder_name(embedder.id)
        model = models.resolve_model(settings)
        asking = by_methods(model.counter, model.asked_budget)
        for file in files:
            with output.progress(f"{file.name}, {name}", file.asked) as advance:
                measured = measure(file.talks, embedder, asking, advance)
            file.require_fitting(measured, model.asked_budget.limit)
            outcomes = measured.outcomes
            figures[file.name][name] = {
                method: report.method_fields(found) for method, found in outcomes.items()
            }
            about = f"{plural(file.asked, 'question')}, {used[name]}, window in jit"
            title = f"{file.name}: {about}"
            table = report.recall_table(title, measured, has_categories=measuring.by != ALL)
            output.print_tables([table])
            output.emit("")
    about_files = {file.name: file.fields for file in files}
    result = {"files": about_files, "embedders": used, "datasets": figures}
    measuring.write(flags.settings(), result)


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
