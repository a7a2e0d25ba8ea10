"""How the trials of a reply are drawn: bars of change, the answer without a turn. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from textual.content import Content

from jitchat.subcall.comparing import gone
from jitchat.subcall.leave_one_out import Trial, Tried
from jitchat.text.money import dollars
from jitchat.text.safe import one_line, visible
from jitchat.tui.cells import cut
from jitchat.tui.palette import MUTED
from jitchat.tui.views.replied import Replied

_BAR = 12
_FULL, _HALF, _REST = "█", "▌", "·"
NO_WINDOW = (
    "No window of this reply is kept: it came from elsewhere, such as an import. Choose a reply"
    " that was answered here."
)
NOTHING_RETRIEVED = (
    "Nothing was retrieved for this reply: its window has the recent turns, and no older one that"
    " could be left out. A message about something older fills this."
)
CUT = (
    "This reply was broken off ({status}), so an answer that comes to its end differs from it"
    " whatever turn it goes without. Send the message again (F9, then R) and look at that reply."
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is tried, and what came of it so far."""

    replied: Replied
    trials: tuple[Trial, ...]
    texts: Mapping[int, str]
    """What each of their turns says."""
    measure: str
    """By what answers are compared."""
    exact: bool
    """Whether the same window always brings the same answer."""
    tried: Mapping[int | None, Tried] = field(default_factory=dict)
    """By turn; None: of the unchanged window."""

    @property
    def rows(self) -> list[Trial]:
        """The unchanged window, then the turns, the one that mattered most first."""
        return sorted(self.trials, key=self._order)

    @property
    def chance(self) -> float | None:
        """How much the answer differs when nothing does; None where that is not known."""
        control = self.tried.get(None)
        return control.change if control is not None and control.error is None else None

    def _order(self, trial: Trial) -> tuple[bool, bool, float]:
        tried = self.tried.get(trial.turn)
        told = tried is not None and tried.error is None
        return trial.turn is not None, not told, -tried.change if tried is not None else 0.0


def row_line(sheet: Sheet, trial: Trial, width: int) -> Content:
    """`#9      ██████▌····· 0.54  Decision: the deploy …`: at most `width` cells."""
    tried = sheet.tried.get(trial.turn)
    name = f"#{trial.turn}" if trial.turn is not None else "none"
    text = "the same window again" if trial.turn is None else sheet.texts.get(trial.turn, "")
    if tried is None:
        line, style = f"{name:<7} {'…':<{_BAR}}       {one_line(text)}", MUTED
    elif tried.error is not None:
        line, style = f"{name:<7} {'failed':<{_BAR}}       {one_line(str(tried.error))}", ""
    else:
        is_more = tried.change > (sheet.chance or 0.0)
        line = f"{name:<7} {bar(tried.change)} {tried.change:.2f}  {one_line(text)}"
        style = "bold" if trial.turn is not None and is_more else ""
    return Content.assemble((cut(line, width), style))


def bar(change: float) -> str:
    """Draw 0 to 1; more than nothing is never an empty bar."""
    halves = min(2 * _BAR, max(round(change * 2 * _BAR), 1 if change > 0 else 0))
    return f"{_FULL * (halves // 2)}{_HALF * (halves % 2)}".ljust(_BAR, _REST)


def header() -> str:
    """Name the columns."""
    return f"{'without':<7} {'the answer changes':<{_BAR + 6}} what the turn says"


def question_of(sheet: Sheet, who: str, cost: float | None) -> str:
    """Ask whether the requests are to be sent."""
    turns = len(sheet.trials) - 1
    price = "which is free" if cost == 0 else "at an unknown price"
    if cost:
        price = f"for about {dollars(cost)}"
    return (
        f"{one_line(who)} would be asked {len(sheet.trials)} times, {price}: without each of"
        f" {turns} retrieved turn{'s' * (turns != 1)}, and once with the same window, to tell"
        " chance apart. Nothing is stored. Y asks, N leaves."
    )


def state_of(sheet: Sheet) -> str:
    """Say how far it is, and by what answers are compared."""
    done, of = len(sheet.tried), len(sheet.trials)
    told = f"{done} of {of} asked · compared {sheet.measure}"
    if sheet.chance is not None:
        told += f" · the same window again differs by {sheet.chance:.2f}"
    return told


def answer_of(sheet: Sheet, trial: Trial) -> str:
    """Show the answer without a turn, and what went with it."""
    tried = sheet.tried.get(trial.turn)
    name = f"Without #{trial.turn}" if trial.turn is not None else "With the same window"
    if tried is None:
        return f"{name}: not asked yet."
    if tried.error is not None:
        return f"{name}: {visible(str(tried.error))}"
    if tried.answer.strip() == sheet.replied.reply.content.strip():
        return f"{name} the answer is the same."
    lost = gone(sheet.replied.reply.content, tried.answer) if sheet.exact else ()
    went = f"\nWhat went: {one_line(' '.join(lost))}" if lost else ""
    return f"{name}: {visible(tried.answer.strip()) or 'the answer is empty.'}{went}"


def plain(sheet: Sheet) -> Sequence[str]:
    """Write all of it as lines."""
    told = [state_of(sheet), header()]
    for trial in sheet.rows:
        told += [str(row_line(sheet, trial, 200)), f"  {answer_of(sheet, trial)}"]
    return told
