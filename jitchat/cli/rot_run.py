"""A run of the lab on the command line: confirm, run, print, and check `--fail-under`."""

import asyncio
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from textwrap import fill

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from jitchat import models
from jitchat.bench.output import without_login
from jitchat.cli import cold_store, options, output
from jitchat.cli.rot_options import RotFiles, RotFlags
from jitchat.errors import BenchFailed, JitchatError, UsageError
from jitchat.lab import costs, events, run_file, stats
from jitchat.lab.change import is_answered
from jitchat.lab.experiment import Experiment, Result, Verdict
from jitchat.lab.lab import Lab
from jitchat.lab.service import LabService, is_here, judge_model
from jitchat.settings import Settings, small_models
from jitchat.text import figures, sanitize
from jitchat.values import ASSUMED

_NEXT_TO_NOTHING = 1e-9
_WIDTH = 79
"""Width of the text before sending, in columns."""
_REASON_LENGTH = 400
"""Maximum characters of the reason for a failure."""
_RULE_LENGTH = 60
"""Maximum characters of why a cell is right or wrong."""


def run_here(
    flags: options.Flags,
    settings: Settings,
    wanted: RotFlags,
    experiment: Experiment | None,
    files: RotFiles,
) -> None:
    """Start a run, or resume one if there is no `experiment`; print and write its figures."""
    least = wanted.thresholds()
    files.require_writable()
    small_models.require_addresses(settings)
    paths = flags.paths()
    with cold_store.opened_store(paths) as store:
        model = models.resolve_model(settings, store.database)
        warning = models.unencrypted_keys(settings)
        if warning:
            output.warn(warning)
        service = LabService(lambda: model, paths, store)
        if experiment is None:
            lab = _resumed(service, model, wanted, least)
        else:
            _require_asked(experiment, least)
            lab = _started(service, model, wanted, experiment)
        with closing(lab.file) as file:
            watcher = _watched(lab, wanted.parallel, _resumes(file.run.id))
            tallies = files.print_run(file.run, file.results())
            _print_end(watcher, file.run.id)
            _require_shares(file.run.experiment, tallies, least)


def _started(
    service: LabService, model: models.ResolvedModel, wanted: RotFlags, experiment: Experiment
) -> Lab:
    """Start a run, after its requests were shown and confirmed."""
    judge = wanted.judge or ""
    answerer = service.answerer()
    if answerer.speed is None and answerer.is_here:
        answerer = replace(answerer, speed=service.probe())
    experiment = costs.fitted(experiment, answerer)
    settled = service.prepare(experiment, judge)
    left_out = [
        run_file.short(length) for length in experiment.lengths if length not in settled.lengths
    ]
    title = service.title(settled)
    if left_out:
        output.say(f"{title} is too short for {', '.join(left_out)}, which is skipped.", err=True)
    assumed = f" ({ASSUMED})" if answerer.is_assumed else ""
    limit = f"{answerer.limit:,} tokens{assumed}"
    cells = figures.plural(settled.size, "cell")
    output.say(f"{cells} for {_named(model)}, context size {limit}:", err=True)
    estimate = costs.estimate_run(settled, answerer)
    _confirm(model, judge, estimate, title=title, yes=wanted.yes)
    return service.begin(settled, wanted.parallel, judge)


def _resumed(
    service: LabService, model: models.ResolvedModel, wanted: RotFlags, least: Collection[str]
) -> Lab:
    """Resume a run, after its remaining requests were shown and confirmed."""
    lab = service.resume(wanted.resume or "", wanted.parallel)
    try:
        run, left = lab.file.run, lab.file.left()
        _require_asked(run.experiment, least)
        title = service.title(run.experiment)
        are_left = f"{len(left):,} of {figures.plural(run.experiment.size, 'cell')} left"
        output.say(
            f"{run.id}, {sanitize.one_line(run.title)}: {are_left}, for {_named(model)}.", err=True
        )
        if left:
            answerer = replace(service.answerer(), limit=run.limit, reserve=run.reserve)
            estimate = costs.estimate_cells(left, answerer)
            _confirm(model, run.judge, estimate, title=title, yes=wanted.yes)
    except BaseException:  # close on any failure
        lab.file.close()
        raise
    return lab


def _confirm(
    model: models.ResolvedModel, judge: str, estimate: costs.Estimate, *, title: str, yes: bool
) -> None:
    """Show what will be sent and ask for confirmation, unless it is free and stays on this machine.

    `title` is that of the user's conversation; empty for generated filler.
    """
    _say_indented(costs.sentence(estimate))
    if title:
        _say_indented(f"The requests contain your conversation {title}, with facts planted in it.")
    stays = is_here(model)
    if judge:
        judging = judge_model(model, judge)
        stays = stays and is_here(judging)
        more = f"plus up to {figures.plural(estimate.requests, 'request')} to {_named(judging)}"
        _say_indented(f"{more}, not included in this cost.")
        warning = models.unencrypted_key(judging.profile)
        if warning and judging.profile.name != model.profile.name:
            output.warn(warning)
    if not stays:
        output.require_yes(given=yes)


def _named(model: models.ResolvedModel) -> str:
    name = sanitize.one_line(model.name)
    address = without_login(model.profile.base_url)
    return name if model.profile.is_reader else f"{name} at {address}"


def _say_indented(text: str) -> None:
    """Print a detail of the line above, indented and wrapped for a small terminal."""
    blank = "  "
    output.say(fill(text, _WIDTH, initial_indent=blank, subsequent_indent=blank), err=True)


def _watched(lab: Lab, parallel: int, hint: str) -> "Watcher":
    """Run the lab with a progress bar on standard error, or lines if it is not a terminal.

    If the run ends early, `hint` says how to resume it.
    """
    decided = [result for result in lab.file.results() if result.verdict is not Verdict.FAILED]
    size = lab.file.run.experiment.size
    watching: AbstractContextManager[Watcher]
    if output.is_terminal(sys.stderr):
        watching = drawn(len(decided), size, parallel, Console(stderr=True))
    else:
        show = partial(output.say, err=True)
        watching = nullcontext(Watcher(len(decided), parallel, show, size))
    try:
        with watching as watcher:
            for result in decided:
                watcher.pay(result)
            asyncio.run(lab.run(watcher.take))
    except (KeyboardInterrupt, JitchatError):  # signals raise KeyboardInterrupt, too
        output.say(f"\nStopped. Answers so far are saved: {hint}", err=True)
        raise
    return watcher


def _print_line(console: Console, line: str) -> None:
    console.print(Text(sanitize.for_terminal(line).cells))


@contextmanager
def drawn(decided: int, size: int, parallel: int, console: Console) -> Iterator["Watcher"]:
    doing = TextColumn("{task.description}", markup=False)
    columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), doing)
    with Progress(*columns, console=console, transient=True) as bar:
        watcher = Watcher(decided, parallel, partial(_print_line, bar.console))
        task = bar.add_task("", total=size, completed=decided)

        def update() -> None:
            sentence = sanitize.for_terminal(watcher.doing).cells
            bar.update(task, completed=watcher.decided, description=sentence)

        watcher.on_change = update
        yield watcher


class Watcher:
    def __init__(
        self, decided: int, parallel: int, show: Callable[[str], None], size: int | None = None
    ) -> None:
        """Follow a run: `decided` cells are done, `parallel` requests run at once, `show` prints.

        With the `size` of the run, in cells, a line is printed for each cell and conversation.
        """
        self.decided, self.failed = decided, 0
        self.first_failure = ""
        """Why the first failed cell failed; empty if none did."""
        self.why_over = ""
        """Why the run was given up, as a sentence; empty if it was not."""
        self._paid, self._unpriced = 0.0, 0
        """US dollars, and the number of answers whose cost is unknown."""
        self._show, self._parallel = show, parallel
        self._size = size
        self._doing = self._length = self._last = ""
        self._is_slowed = False
        self.on_change: Callable[[], object] = lambda: None
        """Called after each event."""

    @property
    def doing(self) -> str:
        """The current activity and the last cell: `asking at 4k, 2 failed, $0.12 · 50 % …`."""
        failed = f"{self.failed:,} failed" if self.failed else ""
        paid = figures.total_of(self._paid, self._unpriced)
        now = ", ".join(filter(None, (self._doing, failed, paid)))
        return " · ".join(filter(None, (now, self._last)))

    def take(self, event: events.LabEvent) -> None:
        match event:
            case events.ConversationBegun():
                self._length = run_file.short(event.length)
                self._doing = f"storing {self._length}"
                self._line(f"Conversation {event.number:,} of {event.of:,}: {self._doing}…")
            case events.ConversationReady(number, turns, seconds):
                self._doing = f"asking at {self._length}"
                stored = f"{figures.plural(turns, 'turn')} in {stats.duration(seconds)}"
                self._line(f"Conversation {number:,}: {stored}; {self._doing}…")
            case events.CellEnded(result):
                if result.verdict is Verdict.FAILED:
                    self.failed += 1
                    self.first_failure = self.first_failure or result.note
                self.decided += 1
                self.pay(result)
                self._last = cell_text(result)
                self._line(f"{self.decided:>6,}/{self._size or 0:,}  {self._last}")
            case events.Slowed():
                self._slowed(event)
            case events.CapRaised(tokens):
                self._show(f"The model reasons: answers can take {tokens:,} tokens from now on.")
            case events.RunEnded():
                self.why_over = event.why
            case _:
                pass
        self.on_change()

    def _line(self, text: str) -> None:
        if self._size is not None:
            self._show(text)

    def pay(self, result: Result) -> None:
        """Add what a cell cost, as the tables of the run do."""
        if result.seconds is not None and result.verdict is not Verdict.UNFIT:
            self._paid += result.cost or 0.0
            self._unpriced += result.cost is None

    def _slowed(self, event: events.Slowed) -> None:
        """Report a change of rate once, although every request that has to wait reports it."""
        is_less = event.parallel < self._parallel
        if self._is_slowed and not is_less:
            return
        self._parallel, self._is_slowed = event.parallel, True
        actions = [f"waiting {event.seconds:.0f} s"] if event.seconds >= 1 else []
        if is_less:
            actions.append(f"{figures.plural(event.parallel, 'request')} at once from now on")
        why = f"The endpoint is limiting requests ({sanitize.one_line(event.why)})"
        self._show(f"{why}{': ' if actions else ''}{', '.join(actions)}.")


def cell_text(result: Result) -> str:
    """Return `4k at 50 %, distracted, near 6, full: wrong, says another's value 31; 1.2 s`."""
    cell = result.cell
    parts = [f"{run_file.short(cell.length)} at {stats.percent(cell.depth)}", cell.kind.value]
    parts += [] if cell.near is None else [f"near {cell.near}"]
    why = result.verdict.value
    if is_answered(result):
        why += f", {sanitize.shorten(result.rule, _RULE_LENGTH)}"
    took = "" if result.seconds is None else f"; {stats.duration(result.seconds)}"
    return f"{', '.join((*parts, cell.mode.value))}: {why}{took}"


def _print_end(watcher: Watcher, run: str) -> None:
    if watcher.why_over:
        raise BenchFailed(watcher.why_over, _resumes(run))
    output.say(f"Saved as {run}: `jitchat rot show {run}` shows it again.", err=True)
    if watcher.failed:
        cells = figures.plural(watcher.failed, "cell")
        them = "it" if watcher.failed == 1 else "them"
        why = sanitize.shorten(watcher.first_failure, _REASON_LENGTH)
        again = _resumes(run, f"asks {them} again")
        output.say(f"{cells} failed; {again} The first failure: {why}", err=True)


def _resumes(run: str, effect: str = "continues the run") -> str:
    return f"`jitchat rot --resume {run}` {effect}."


def _require_asked(experiment: Experiment, modes: Collection[str]) -> None:
    asked = [mode.value for mode in experiment.modes]
    missing = [mode for mode in modes if mode not in asked]
    if missing:
        raise UsageError(
            f"--fail-under names {missing[0]}, which is not one of the run's modes.",
            f"Its modes: {', '.join(asked)}.",
        )


def _require_shares(
    experiment: Experiment, tallies: stats.Tallies, least: Mapping[str, float]
) -> None:
    """Check each mode's share of right cells; those that do not fit or failed are not right.

    Raises:
        BenchFailed: A share is smaller than required.

    """
    cells = experiment.size // len(experiment.modes)
    below = []
    for mode in experiment.modes:
        tally, wanted = tallies.by_mode.get(mode, stats.Tally()), least.get(mode.value, 0.0)
        share = tally.right / cells
        if share < wanted - _NEXT_TO_NOTHING:
            unanswered = ", ".join(stats.unanswered_parts(tally))
            below.append(
                f"{mode}: {tally.right:,} of {figures.plural(cells, 'cell')} right"
                f"{f' ({unanswered})' if unanswered else ''}, a share of {share:.3f};"
                f" --fail-under requires {wanted:g}."
            )
    if below:
        raise BenchFailed(" ".join(below))
