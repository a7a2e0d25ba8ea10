"""`jitchat rot` without the screen: told, confirmed, run, printed, written, held to a share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

from jitchat.cli.compose import key_in_the_open
from jitchat.cli.lab_desk import LocalLabDesk
from jitchat.cli.opening import opened_store
from jitchat.cli.output import say
from jitchat.cli.rot_bill import confirm_new, confirm_resumed
from jitchat.cli.rot_shares import require_asked, require_shares
from jitchat.cli.rot_tables import print_run
from jitchat.cli.rot_watch import Watcher, watching
from jitchat.cli.who import Who, who_answers
from jitchat.errors import BenchFailed
from jitchat.rot.events import LabEvent
from jitchat.rot.lab import Lab
from jitchat.rot.run import short
from jitchat.settings.small_models import require_addresses
from jitchat.text.counts import counted
from jitchat.text.safe import shortened

if TYPE_CHECKING:
    from jitchat.cli.options import Flags
    from jitchat.cli.rot_flags import RotFlags
    from jitchat.rot.experiment import Experiment
    from jitchat.rot.run_file import RunFile
    from jitchat.settings import Settings

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
        told, them = counted(watcher.failed, "cell"), "it" if watcher.failed == 1 else "them"
        why = shortened(watcher.first_failure, _SHOWN)
        say(f"{told} failed; {_goes_on(run, f'asks {them} again')} The first: {why}", err=True)


def _goes_on(run: str, does: str = "goes on with it") -> str:
    return f"`jitchat rot --resume {run}` {does}."
