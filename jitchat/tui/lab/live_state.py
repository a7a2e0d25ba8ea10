"""The live demo's state: the question, each mode's progress, and the score. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from jitchat.events import AnswerProgress
from jitchat.lab.change import is_answered, is_right
from jitchat.lab.experiment import Result
from jitchat.lab.facts import Fact
from jitchat.lab.live import DEPTHS, LENGTHS, MODES, NEAR, USUAL, Setup
from jitchat.lab.run_file import short
from jitchat.lab.stats import Tallies, count_results, duration, percent, share_of
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.drawing import MUTED, Content
from jitchat.values import Mode

SHOWN = (Mode.FULL, Mode.RECENCY, Mode.JIT)
"""The modes, in the order of the columns."""
_Number = TypeVar("_Number", int, float)
_NAME = 9
_LENGTH = 9
"""Width of a column of the score."""


class Phase(StrEnum):
    MAKING = "making the conversation"
    ASKING = "asking"
    ANSWERED = "answered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LiveState:
    setup: Setup = USUAL
    """The settings of the question on screen."""
    near: int = USUAL.near
    """The settings of the next question."""
    depth: float = USUAL.depth
    phase: Phase = Phase.MAKING
    fact: Fact | None = None
    """None until the conversation is made."""
    answers: Mapping[Mode, AnswerProgress] = field(default_factory=dict)
    """Answers of the modes that have started."""
    decided: Mapping[Mode, Result] = field(default_factory=dict)
    results: Sequence[Result] = ()
    """Results of all questions."""
    error: str = ""
    """Why no question is asked; empty if there is no problem."""

    def begun(self, setup: Setup) -> "LiveState":
        return replace(
            self, setup=setup, phase=Phase.MAKING, fact=None, answers={}, decided={}, error=""
        )

    def made(self, fact: Fact) -> "LiveState":
        return replace(self, phase=Phase.ASKING, fact=fact)

    def heard(self, answer: AnswerProgress) -> "LiveState":
        return replace(self, answers={**self.answers, answer.mode: answer})

    def took(self, result: Result) -> "LiveState":
        decided = {**self.decided, result.cell.mode: result}
        phase = Phase.ANSWERED if len(decided) == len(MODES) else self.phase
        return replace(self, decided=decided, results=(*self.results, result), phase=phase)

    def failed(self, why: str) -> "LiveState":
        return replace(self, phase=Phase.FAILED, error=one_line(why))

    def dialled(self, *, near: int = 0, depth: int = 0) -> "LiveState":
        """Change the settings by this many steps, within their ranges."""
        return replace(
            self, near=_notch(NEAR, self.near, near), depth=_notch(DEPTHS, self.depth, depth)
        )

    @property
    def next(self) -> Setup:
        """The next question's settings; after a change, this length is asked again."""
        is_same = (self.near, self.depth) == (self.setup.near, self.setup.depth)
        ahead = self.setup.following if is_same else self.setup
        return replace(ahead, near=self.near, depth=self.depth)

    @property
    def is_busy(self) -> bool:
        return self.phase in (Phase.MAKING, Phase.ASKING)

    @property
    def score(self) -> Tallies:
        """Count the answers to questions with the current settings."""
        dials = (self.near, self.depth)
        return count_results(
            each for each in self.results if (each.cell.near, each.cell.depth) == dials
        )


def _notch(scale: Sequence[_Number], value: _Number, step: int) -> _Number:
    return scale[min(len(scale) - 1, max(0, scale.index(value) + step))]


def setup_line(state: LiveState) -> Content:
    """`2k tokens   6 near-duplicates (+ −)   fact at 50 % (← →)`."""
    near, depth = f"{state.near}", percent(state.depth)
    is_new = (state.near, state.depth) != (state.setup.near, state.setup.depth)
    later = "  (next question)" if is_new and state.fact is not None else ""
    return Content.assemble(
        (f"{short(state.setup.length)} tokens", "bold"),
        ("   ", MUTED),
        (near, "bold"),
        (" near-duplicates (+ −)   fact at ", MUTED),
        (depth, "bold"),
        (" (← →)", MUTED),
        (later, "$text-warning"),
    )


def question_lines(state: LiveState) -> Content:
    if state.error:
        return Content.styled(state.error, "$text-error")
    if state.fact is None:
        return Content.styled(f"{Phase.MAKING}…", MUTED)
    fact = state.fact
    near = f", {plural(state.setup.near, 'near-duplicate')}" if state.setup.near else ""
    right = f"   ({fact.kind}{near}, said at {percent(state.setup.depth)})"
    return Content.assemble(
        ("Asked  ", MUTED), (fact.question, "bold"), ("\nRight  ", MUTED),
        (fact.expected, f"bold {_RIGHT_INK}"), (right, MUTED),
    )  # fmt: skip


_RIGHT_INK, _WRONG_INK = "$text-primary", "$text-warning"


def mode_state(state: LiveState, mode: Mode, now: float) -> str:
    """Describe a mode's progress; `now` is in seconds of the answers' clock."""
    answer, result = state.answers.get(mode), state.decided.get(mode)
    if result is not None:
        return " · ".join(_times(result))
    if state.phase is Phase.FAILED:
        return "not answered"
    if answer is None:
        first = next((each for each in MODES if each not in state.decided), mode)
        return "waiting" if mode is not first else "planning…"
    if answer.left_at is None:
        return "planning…"
    if answer.first_at is None:
        reading = "" if answer.window is None else f" {answer.window.used:,} tokens"
        return f"reading{reading}… {max(0.0, now - answer.left_at):.0f} s"
    return f"answering… first {duration(answer.to_first)}"


def _times(result: Result) -> list[str]:
    """List the time to the first token and the reading and writing speed, as far as known."""
    if result.to_first is None:
        return []
    told = [f"first {duration(result.to_first)}"]
    usage = result.usage
    if usage is not None and usage.input_tokens and result.to_first:
        read = usage.input_tokens - (usage.cached_tokens or 0)
        told.append(f"reads {read / result.to_first:,.0f}")
        if usage.output_tokens and result.seconds and result.seconds > result.to_first:
            written = usage.output_tokens / (result.seconds - result.to_first)
            told.append(f"writes {written:,.0f}")
        told[-1] += " tok/s"
    return told


def size_bar(state: LiveState, mode: Mode, width: int) -> Content:
    """Draw the window's size; `width` is the conversation's length, or a larger window."""
    answer, result = state.answers.get(mode), state.decided.get(mode)
    windows = [each.window for each in state.answers.values() if each.window is not None]
    used = answer.window.used if answer is not None and answer.window is not None else None
    if used is None and result is not None:
        used = result.tokens
    figure = f"{used:,} tokens" if used is not None else "–"
    room = max(4, width - len("00,000 tokens") - 1)
    most = max([state.setup.length, *(window.used for window in windows)])
    cells = 0 if used is None else max(1, round(used / most * room))
    return Content.assemble(
        ("█" * cells, "$primary"), ("░" * (room - cells), MUTED), (f" {figure:>13}", "bold")
    )


def verdict_line(state: LiveState, mode: Mode) -> Content:
    """Write `✗ wrong: says another's value 31`; empty until the answer is graded."""
    result = state.decided.get(mode)
    if result is None:
        return Content()
    graded = is_answered(result)
    why = result.rule if graded else result.note or result.rule
    ink = _RIGHT_INK if is_right(result) else _WRONG_INK
    sign = "✓" if is_right(result) else "✗" if graded else "–"
    return Content.assemble(
        (f"{sign} {result.verdict}", f"bold {ink}"), f": {one_line(why)}", (_held(result), MUTED)
    )


def _held(result: Result) -> str:
    """State whether the window had all the evidence; empty if none was sent."""
    if result.has_evidence is None or not result.needed:
        return ""
    return f" · fact {'in' if result.has_evidence else 'not in'} the window"


def answer_text(state: LiveState, mode: Mode) -> str:
    answer, result = state.answers.get(mode), state.decided.get(mode)
    if result is not None:
        return one_line(result.answer)
    return "" if answer is None else one_line(answer.text)


def column(state: LiveState, mode: Mode, width: int, now: float, *, is_flat: bool) -> Content:
    """Draw a mode in `width` columns; `is_flat` uses three lines, for a stacked layout."""
    text, verdict = answer_text(state, mode), verdict_line(state, mode)
    told = Content.styled(mode_state(state, mode, now), MUTED)
    if is_flat:
        head = Content.assemble((f"{mode:<{_NAME}}", "bold"), size_bar(state, mode, width - _NAME))
        room = max(20, width - verdict.cell_length - 4)
        quoted = f"“{shorten(text, room)}”" if text else ""
        last = Content.assemble(verdict, "  " if verdict else "", quoted)
        return Content("\n").join([head, told, last])
    answer = Content.styled(text, "bold")
    # The verdict comes first: a long answer leaves no room after it.
    lines = [size_bar(state, mode, width), told, Content(), verdict, Content(), answer]
    return Content("\n").join(lines)


def score_lines(state: LiveState) -> Content:
    """Draw a table: a row per mode, a column of counts per length, and the total."""
    score = state.score
    heads = "".join(f"{short(length):>{_LENGTH}}" for length in LENGTHS)
    lines = [Content.styled(f"{'Right':<{_NAME}}{heads}   all, with a 95 % interval", MUTED)]
    for mode in SHOWN:
        cells: list[Content] = []
        for length in LENGTHS:
            tally = score.by_length.get((mode, length))
            if tally is None or not tally.answered:
                cells.append(Content.styled(f"{'·':>{_LENGTH}}", MUTED))
            else:
                ink = _RIGHT_INK if tally.right == tally.answered else _WRONG_INK
                told = f"{tally.right} of {tally.answered}"
                cells.append(Content.styled(f"{told:>{_LENGTH}}", ink))
        lines.append(
            Content.assemble(
                (f"{mode:<{_NAME}}", "bold"), *cells, f"   {share_of(score.by_mode.get(mode))}"
            )
        )
    return Content("\n").join(lines)


_LOGGED = 108
"""Columns of a log line in addition to its question."""
_LEAST_QUESTION, _MOST_QUESTION = 16, 44


def log_lines(state: LiveState, width: int) -> Content:
    """Draw a line for each question asked, latest first, with each mode's result.

    Lines have `width` columns; the question is shortened in favour of the answers.
    """
    room = min(_MOST_QUESTION, max(_LEAST_QUESTION, width - _LOGGED))
    by_question: dict[tuple[object, ...], dict[Mode, Result]] = {}
    for result in state.results:
        cell = result.cell
        key = (cell.length, cell.near, cell.depth, cell.repeat)
        by_question.setdefault(key, {})[cell.mode] = result
    lines = []
    for answers in reversed(by_question.values()):
        first = next(iter(answers.values()))
        length, near, depth = first.cell.length, first.cell.near, percent(first.cell.depth)
        parts = [
            Content.styled(f"{short(length):>5}  near {near:<2}  at {depth:>5}  ", MUTED),
            Content(f"{shorten(first.question, room):<{room + 2}}"),
            Content.styled(f"{shorten(first.expected, 14):<15}", _RIGHT_INK),
        ]
        for mode in SHOWN:
            parts += [Content.styled(f"{mode} ", MUTED), _logged(answers.get(mode))]
        lines.append(Content.assemble(*parts))
    return Content("\n").join(lines)


def _logged(result: Result | None) -> Content:
    if result is None:
        return Content(f"{'·':<16}")
    said = f"{'✓' if is_right(result) else '✗'} {shorten(result.answer or result.verdict, 13)}"
    return Content.styled(f"{said:<16}", _RIGHT_INK if is_right(result) else _WRONG_INK)
