"""`--fail-under`: the share of a mode's cells that has to be right."""

import asyncio
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import replace
from textwrap import fill

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from jitchat.cli.answerers import exposed
from jitchat.cli.compose import key_in_the_open
from jitchat.cli.lab_service import LocalLabDesk, address, is_here, judge_of
from jitchat.cli.opening import opened_store
from jitchat.cli.options import Flags
from jitchat.cli.output import is_terminal, require_yes, say
from jitchat.cli.rot import RotFlags
from jitchat.cli.rot_output import print_run
from jitchat.cli.who import Who, who_answers
from jitchat.errors import BenchFailed, UsageError
from jitchat.lab.costs import estimated, estimated_cells, sentence
from jitchat.lab.events import CellEnded, LabEvent, RunEnded, Slowed, TalkBegun, TalkReady
from jitchat.lab.experiment import Experiment, Result, Verdict
from jitchat.lab.lab import Lab
from jitchat.lab.run_file import RunFile, short
from jitchat.lab.service import Answerer
from jitchat.lab.stats import Tallies, Tally
from jitchat.settings import Settings
from jitchat.settings.small_models import require_addresses
from jitchat.text.figures import plural, total_of
from jitchat.text.sanitize import one_line, shorten
from jitchat.values import ASSUMED

_NEXT_TO_NOTHING = 1e-9


def require_asked(experiment: Experiment, modes: Collection[str]) -> None:
    """Refuse a share of a mode that is not asked.

    Raises:
        UsageError: One of them is not.

    """
    asked = [mode.value for mode in experiment.modes]
    if missing := [mode for mode in modes if mode not in asked]:
        raise UsageError(
            f"--fail-under names {missing[0]}, which is not asked.",
            f"Asked are: {', '.join(asked)}.",
        )


def require_shares(experiment: Experiment, tallies: Tallies, least: Mapping[str, float]) -> None:
    """Hold each mode to its share; a cell that does not fit or failed is not right.

    Raises:
        BenchFailed: One is below it.

    """
    told = list(_below(experiment, tallies, least))
    if told:
        raise BenchFailed(" ".join(told))


def _below(experiment: Experiment, tallies: Tallies, least: Mapping[str, float]) -> Iterator[str]:
    cells = experiment.size // len(experiment.modes)
    for mode in experiment.modes:
        tally = tallies.by_mode.get(mode)
        right = tally.right if tally is not None else 0
        wanted = least.get(mode.value, 0.0)
        if right / cells < wanted - _NEXT_TO_NOTHING:
            yield (
                f"{mode}: {right:,} of {cells:,} cells are right{_without(tally)}, a share of"
                f" {right / cells:.3f}; --fail-under wants {wanted:g}."
            )


def _without(tally: Tally | None) -> str:
    """Say of how many no answer came, and why: ` (2 do not fit, 1 failed)`; empty for none."""
    if tally is None:
        return ""
    told = [f"{tally.unfit:,} {'does' if tally.unfit == 1 else 'do'} not fit"] * bool(tally.unfit)
    told += [f"{tally.failed:,} failed"] * bool(tally.failed)
    return f" ({', '.join(told)})" if told else ""


_WIDTH = 79
"""Columns."""


def confirm_new(  # noqa: PLR0913  all that is told
    experiment: Experiment, answerer: Answerer, who: Who, *, title: str, judge: str, yes: bool
) -> None:
    """Tell what a run sends, and ask whether it may, unless it is sure to be free and to stay here.

    `title` is that of the user's conversation; empty where talk is made up.

    Raises:
        BenchFailed: It may not.

    """
    estimate = estimated(experiment, answerer)
    cells = plural(experiment.size, "cell")
    assumed = f" ({ASSUMED})" if answerer.is_assumed else ""
    takes = f"{answerer.limit:,} tokens{assumed}"
    say(f"{cells} for {_named(who)}, which takes {takes}:", err=True)
    _say_beneath(sentence(estimate))
    _tell_source(title)
    _confirm(who, judge, estimate.requests, yes=yes)


def confirm_resumed(file: RunFile, answerer: Answerer, who: Who, *, title: str, yes: bool) -> None:
    """Tell what is left of a run and what that sends, and ask likewise.

    Raises:
        BenchFailed: It may not be sent.

    """
    run, left = file.run, file.left()
    told = f"{len(left):,} of {plural(run.experiment.size, 'cell')} are left"
    say(f"{run.id}, {one_line(run.title)}: {told}, for {_named(who)}.", err=True)
    if left:
        as_begun = replace(answerer, limit=run.limit, reserve=run.reserve)
        estimate = estimated_cells(left, as_begun)
        _say_beneath(sentence(estimate))
        _tell_source(title)
        _confirm(who, run.judge, estimate.requests, yes=yes)


def _tell_source(title: str) -> None:
    if title:
        _say_beneath(f"What is sent is the text of your conversation {title}, with facts in it.")


def _confirm(who: Who, judge: str, requests: int, *, yes: bool) -> None:
    stays = is_here(who)
    if judge:
        judging = judge_of(who, judge)
        stays = stays and is_here(judging)
        told = f"and up to {plural(requests, 'request')} to {_named(judging)}"
        _say_beneath(f"{told}, whose cost is not counted here.")
        if judging.profile.name != who.profile.name and (warning := exposed(judging.profile)):
            say(f"jitchat: {warning}", err=True)
    if not stays:
        require_yes(given=yes)


def _named(who: Who) -> str:
    """Say who it is, and where."""
    model = one_line(who.model)
    return model if who.profile.is_reader else f"{model} at {address(who.profile)}"


def _say_beneath(text: str) -> None:
    """Say what belongs to the line above, in lines that a small terminal holds."""
    blank = "  "
    say(fill(text, _WIDTH, initial_indent=blank, subsequent_indent=blank), err=True)


class Watcher:
    """Follows the events of a run."""

    def __init__(self, decided: int, parallel: int, tell: Callable[[str], None]) -> None:
        """`decided` cells are so already, `parallel` requests leave at once; `tell` prints."""
        self.decided, self.failed = decided, 0
        self.first_failure = ""
        """Why the first cell failed that did; empty where none did."""
        self.why_over = ""
        """Why the run was given up, as a sentence; empty where it is whole."""
        self._paid, self._unpriced = 0.0, 0
        """US dollars, and of how many answers they are not known."""
        self._tell, self._parallel = tell, parallel
        self._doing = self._length = ""
        self._is_slowed = False

    @property
    def doing(self) -> str:
        """What is being done, in few columns: `asking at 4k, 2 failed, $0.12`."""
        failed = f"{self.failed:,} failed" if self.failed else ""
        paid = total_of(self._paid, self._unpriced)
        return ", ".join(filter(None, (self._doing, failed, paid)))

    def take(self, event: LabEvent) -> None:
        """Take in what the run reports."""
        match event:
            case TalkBegun():
                self._length = short(event.length)
                self._doing = f"storing {self._length}"
            case TalkReady():
                self._doing = f"asking at {self._length}"
            case CellEnded():
                self._count(event)
            case Slowed():
                self._slowed(event)
            case RunEnded():
                self.why_over = event.why
            case _:
                pass

    def _count(self, event: CellEnded) -> None:
        if event.result.verdict is Verdict.FAILED:
            self.failed += 1
            self.first_failure = self.first_failure or event.result.note
        self.decided += 1
        self.pay(event.result)

    def pay(self, result: Result) -> None:
        """Add what a cell cost, as the tables of the run do."""
        if result.seconds is not None and result.verdict is not Verdict.UNFIT:
            self._paid += result.cost or 0.0
            self._unpriced += result.cost is None

    def _slowed(self, event: Slowed) -> None:
        """Say what is new of it: every request that has to wait reports that."""
        is_less = event.parallel < self._parallel
        if self._is_slowed and not is_less:
            return
        self._parallel, self._is_slowed = event.parallel, True
        does = [f"waiting {event.seconds:.0f} s"] if event.seconds >= 1 else []
        if is_less:
            does.append(f"{plural(event.parallel, 'request')} at once from now on")
        told = f"The endpoint wants less ({one_line(event.why)})"
        self._tell(f"{told}{': ' if does else ''}{', '.join(does)}.")


@contextmanager
def watching(file: RunFile, parallel: int) -> Iterator[tuple[Watcher, Callable[[LabEvent], None]]]:
    """Draw a bar for who looks at standard error; for a file or a pipe, lines alone."""
    size = file.run.experiment.size
    kept = [each for each in file.results() if each.verdict is not Verdict.FAILED]
    if not is_terminal(sys.stderr):
        watcher = Watcher(len(kept), parallel, lambda line: say(line, err=True))
        yield watcher, watcher.take
        return
    with drawn(len(kept), size, parallel, Console(stderr=True)) as (watcher, take):
        for result in kept:
            watcher.pay(result)
        yield watcher, take


@contextmanager
def drawn(
    decided: int, size: int, parallel: int, console: Console
) -> Iterator[tuple[Watcher, Callable[[LabEvent], None]]]:
    """Draw the bar of a run of `size` cells."""
    with _bar(console) as bar:
        watcher = Watcher(decided, parallel, lambda line: bar.console.print(Text(line)))
        task = bar.add_task("", total=size, completed=decided)

        def take(event: LabEvent) -> None:
            watcher.take(event)
            bar.update(task, completed=watcher.decided, description=watcher.doing)

        yield watcher, take


def _bar(console: Console) -> Progress:
    doing = TextColumn("{task.description}", markup=False)
    columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), doing)
    return Progress(*columns, console=console, transient=True)


_SHOWN = 400
"""Characters of a failure's reason."""


def run_here(flags: Flags, settings: Settings, wanted: RotFlags, asked: Experiment | None) -> None:
    """Make a run, or go on with one where nothing is `asked`; print and write its figures.

    Raises:
        JitchatError: It cannot be asked, was given up, or is below what `--fail-under` wants.

    """
    least = wanted.thresholds()
    wanted.files.require_writable()
    require_addresses(settings)
    with _opened(flags, settings) as (desk, who):
        if asked is None:
            lab = _resumed(desk, who, wanted, least)
        else:
            require_asked(asked, least)
            lab = _begun(desk, who, wanted, asked)
        try:
            _finish(lab.file, _watched(lab, wanted.parallel), wanted, least)
        finally:
            lab.file.close()


def _finish(file: RunFile, watcher: Watcher, wanted: RotFlags, least: Mapping[str, float]) -> None:
    """Print and write what came, and say how it ended.

    Raises:
        BenchFailed: It was given up, or is below what `--fail-under` wants.

    """
    tallies = print_run(file.run, file.results(), wanted.files)
    _tell_end(watcher, file.run.id)
    require_shares(file.run.experiment, tallies, least)


@contextmanager
def _opened(flags: Flags, settings: Settings) -> Iterator[tuple[LocalLabDesk, Who]]:
    """Open the user's cold store, and set up who answers."""
    paths = flags.paths()
    with opened_store(paths) as store:
        who = who_answers(settings, store.database)
        if warning := key_in_the_open(settings):
            say(f"jitchat: {warning}", err=True)
        yield LocalLabDesk(lambda: who, paths, store), who


def _begun(desk: LocalLabDesk, who: Who, wanted: RotFlags, asked: Experiment) -> Lab:
    """Begin a run, once it is told what it sends, and that is confirmed."""
    judge = wanted.judge or ""
    settled = desk.settled(asked, judge)
    left_out = [short(length) for length in asked.lengths if length not in settled.lengths]
    title = desk.title(settled)
    if left_out:
        say(f"{title} is too short for {', '.join(left_out)}: left out.", err=True)
    confirm_new(settled, desk.answerer(), who, title=title, judge=judge, yes=wanted.yes)
    return desk.begin(settled, wanted.parallel, judge)


def _resumed(desk: LocalLabDesk, who: Who, wanted: RotFlags, least: Collection[str]) -> Lab:
    """Go on with a run, once it is told what is left, and that is confirmed."""
    lab = desk.resume(wanted.resume or "", wanted.parallel)
    try:
        experiment = lab.file.run.experiment
        require_asked(experiment, least)
        title = desk.title(experiment)
        confirm_resumed(lab.file, desk.answerer(), who, title=title, yes=wanted.yes)
    except BaseException:  # closed whatever it was, and passed on
        lab.file.close()
        raise
    return lab


def _watched(lab: Lab, parallel: int) -> Watcher:
    """Run it; Ctrl+C leaves what came."""
    try:
        with watching(lab.file, parallel) as (watcher, take):
            asyncio.run(_heard(lab, take))
    except KeyboardInterrupt:
        say(f"\nStopped. What came is kept: {_goes_on(lab.file.run.id)}", err=True)
        raise
    return watcher


async def _heard(lab: Lab, take: Callable[[LabEvent], None]) -> None:
    async with aclosing(lab.run()) as events:
        async for event in events:
            take(event)


def _tell_end(watcher: Watcher, run: str) -> None:
    """Say where it is kept, and what failed.

    Raises:
        BenchFailed: It was given up.

    """
    if watcher.why_over:
        raise BenchFailed(watcher.why_over, _goes_on(run))
    say(f"Kept as {run}: `jitchat rot show {run}` shows it again.", err=True)
    if watcher.failed:
        told, them = plural(watcher.failed, "cell"), "it" if watcher.failed == 1 else "them"
        why = shorten(watcher.first_failure, _SHOWN)
        say(f"{told} failed; {_goes_on(run, f'asks {them} again')} The first: {why}", err=True)


def _goes_on(run: str, does: str = "goes on with it") -> str:
    return f"`jitchat rot --resume {run}` {does}."
