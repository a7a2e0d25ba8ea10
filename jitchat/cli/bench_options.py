"""Shared by the commands of `jitchat bench`: options, files of questions, the file of figures."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from jitchat import __version__
from jitchat.bench import questions
from jitchat.bench.asking import WIDER
from jitchat.bench.output import settings_fields
from jitchat.bench.scores import Measured
from jitchat.cli import options, output
from jitchat.errors import BenchFailed
from jitchat.settings import Settings
from jitchat.text.figures import plural
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
        of_all = f"of {plural(self.asked, 'question')}"
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
