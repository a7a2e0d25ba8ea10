"""How the lab's figures are written, everywhere the same."""

from __future__ import annotations

from collections.abc import Iterator

from jitchat.rot.cells import Verdict
from jitchat.rot.run import Run
from jitchat.rot.spent import Spent
from jitchat.rot.tally import Tally
from jitchat.text.counts import counted
from jitchat.text.money import cost_of, total_of
from jitchat.text.safe import one_line

NOTHING = "–"
"""Where there is no figure."""


def points(share: float) -> str:
    """Write a share in whole per cent, without the sign: 100 only for all, 0 only for none."""
    rounded = round(share * 100)
    return f"{min(99, max(1, rounded)) if 0 < share < 1 else rounded}"


def percent(share: float | None) -> str:
    """Write a share: `97 %`; a dash for None."""
    return NOTHING if share is None else f"{points(share)} %"


def interval(tally: Tally) -> str:
    """Write the interval of its share: `85–99`, in per cent; empty where there is none."""
    ends = tally.interval
    return "" if ends is None else "–".join(f"{end * 100:.0f}" for end in ends)


def share(tally: Tally | None) -> str:
    """Write `97 % (85–99)`, `does not fit`, `failed`, or a dash where nothing is decided."""
    if tally is not None and tally.answered:
        return f"{percent(tally.share)} ({interval(tally)})"
    return without_answer(tally) or NOTHING


def share_of(tally: Tally | None) -> str:
    """Write it with its count: `97 % of 35 (85–99)`."""
    if tally is not None and tally.answered:
        return f"{percent(tally.share)} of {tally.answered:,} ({interval(tally)})"
    return share(tally)


def total(tally: Tally | None) -> str:
    """Write a share over several lengths: `97 % of 105`; `Tally.interval` says why no more."""
    if tally is not None and tally.answered:
        return f"{percent(tally.share)} of {tally.answered:,}"
    return share(tally)


def without_answer(tally: Tally | None) -> str:
    """Say why no answer came for any of them; empty where one did, or nothing is decided."""
    if tally is None or tally.answered or not tally.cells:
        return ""
    return Verdict.UNFIT.value if tally.unfit else Verdict.FAILED.value


def duration(seconds: float | None) -> str:
    """Write `0.4 s` or `12 ms`; a dash for None."""
    if seconds is None:
        return NOTHING
    if seconds >= 0.1:
        return f"{seconds:,.1f} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.001 or not seconds else "<1 ms"


def tokens(count: float | None) -> str:
    """Write a median of tokens; a dash for None."""
    return NOTHING if count is None else f"{count:,.0f}"


def cost(spent: Spent) -> str:
    """Write what all of them cost: `$0.12`, `$0.12 + 3 unknown`, `free`, `cost unknown`."""
    if not spent.sent:
        return NOTHING
    if spent.unpriced:
        return total_of(spent.cost or 0.0, spent.unpriced)
    return cost_of(spent.cost)


def decided(run: Run, whole: Tally) -> str:
    """Tell what came of the cells, as `100 of 420 cells: 88 answered, 12 failed`.

    Of a run that is whole: `420 cells: …`.
    """
    size = run.experiment.size
    of = f"{whole.cells:,} of " if whole.cells != size else ""
    parts = [f"{whole.answered:,} answered"]
    if whole.unfit:
        parts.append(f"{whole.unfit:,} {'does' if whole.unfit == 1 else 'do'} not fit")
    if whole.failed:
        parts.append(f"{whole.failed:,} failed")
    kept_out = " Shares are of the answered ones." if whole.cells != whole.answered else ""
    return f"{of}{counted(size, 'cell')}: {', '.join(parts)}.{kept_out}"


def setting_parts(run: Run) -> Iterator[str]:
    """Tell what the figures depend on, part by part, the most important first."""
    asked = run.experiment
    yield f"preset {one_line(asked.preset)}" if asked.preset != "own" else "own grid"
    yield counted(len(asked.kinds), "kind")
    yield counted(len(asked.depths), "depth")
    yield counted(asked.repeats, "repeat")
    yield f"seed {asked.seed}"
    yield f"limit {run.limit:,}, reserve {run.reserve:,}"
    yield f"embedder {one_line(run.embedder)}"
    yield f"tokens by {one_line(run.counter)}"
    if asked.conversation is not None:
        yield f"in conversation {one_line(asked.conversation)}"
    yield f"judged by {one_line(run.judge)}" if run.judge else "judged by rules"
    yield f"jitchat {one_line(run.version)}"
