"""What a run is going to send, before it is sent."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil

from jitchat.lab.experiment import PRESETS, Cell, Experiment, Result
from jitchat.synthesis.fitting import MOST_WORDS
from jitchat.synthesis.policy import DENSEST, Thresholds
from jitchat.text.figures import about_cost, enumerated, plural
from jitchat.text.sanitize import one_line
from jitchat.values import Mode
from jitchat.window.budget import Budget

ANSWER_TOKENS = 64
"""Tokens that an answer may take, where nothing else is set."""
ENGINE_ANSWER_TOKENS = 32
"""Likewise, of a model that runs here: a small one rambles, and writes slower than it reads."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a model answers, in tokens a second."""

    reads: float
    writes: float
    answer: float
    """Tokens of an answer, on average."""


def speed_of(results: Iterable[Result]) -> Speed | None:
    """Measure by what came; None where that does not tell. Cached tokens are not read."""
    read = written = answers = 0
    reading = writing = 0.0
    for each in results:
        usage, first, whole = each.usage, each.to_first, each.seconds
        if usage is None or usage.input_tokens is None or not usage.output_tokens:
            continue
        if first is None or whole is None or whole <= first:
            continue
        read += usage.input_tokens - (usage.cached_tokens or 0)
        written, answers = written + usage.output_tokens, answers + 1
        reading, writing = reading + first, writing + whole - first
    if read <= 0 or not (reading and writing):
        return None
    return Speed(read / reading, written / writing, written / answers)


@dataclass(frozen=True, slots=True)
class Answerer:
    provider: str
    model: str
    limit: int
    """The context size, in tokens."""
    reserve: int
    """Tokens that are kept free for the reply."""
    retrieved: int
    """Tokens that `jit` sends beside what `recency` sends, about, at the most."""
    recent: int
    """Tokens of the recent block, about."""
    input_price: float | None
    """US dollars for a million tokens; None where nobody knows."""
    output_price: float | None
    is_here: bool
    """Whether it is known that all of it, the picker too, costs nothing and stays on this
    machine."""
    around: int = 128
    """Tokens of a request beside the conversation, about: the system text, the question."""
    is_assumed: bool = False
    """Whether nobody told the context size."""
    picker: str = ""
    """The model that is asked which turns to recall, ahead of each request of `jit`; empty for
    none."""
    answer: int = ANSWER_TOKENS
    """Tokens that an answer may take."""
    speed: Speed | None = None
    """As earlier runs or a probe measured it; None where nothing is known."""

    @property
    def is_reader(self) -> bool:
        return self.provider == "reader"


@dataclass(frozen=True, slots=True)
class Estimate:
    requests: int
    input_tokens: int
    """About."""
    output_tokens: int
    """About."""
    cost: float | None
    """In US dollars, about; None where no price is known. What the picker takes is not in it."""
    unfit: int
    """Cells whose window is larger than the model takes: nothing is sent for them."""
    bounded: tuple[Mode, ...] = ()
    """The modes whose windows are taken to be as large as they may become."""
    picked: int = 0
    """Requests to the picker besides, at the most."""
    picker: str = ""
    """Its model; empty for none."""
    seconds: float | None = None
    """How long all of it takes, one request after the other, about; None where nobody knows."""
    reads: float | None = None
    """Tokens a second that this is reckoned by."""


def estimate_run(experiment: Experiment, answerer: Answerer) -> Estimate:
    """Estimate requests, tokens and money of a whole run; pure.

    Nothing is taken off for a prompt cache, and nothing added for what is sent a second time, or
    to a judge.
    """
    return estimate_cells(experiment.cells(), answerer)


def estimate_cells(cells: Iterable[Cell], answerer: Answerer) -> Estimate:
    cells = list(cells)
    requests = tokens = unfit = picked = 0
    for (mode, length), number in Counter((cell.mode, cell.length) for cell in cells).items():
        size = window_tokens(mode, length, answerer)
        if size is None:
            unfit += number
            continue
        requests, tokens = requests + number, tokens + number * size
        picked += number if answerer.picker and mode.recalls else 0
    answers = answerer.answer * requests
    cost = _cost(tokens, answers, answerer)
    speed = answerer.speed
    return Estimate(
        requests,
        tokens,
        answers,
        cost,
        unfit,
        tuple(mode for mode in Mode if mode.distils and any(each.mode is mode for each in cells)),
        picked,
        answerer.picker,
        None if speed is None else seconds_of(cells, answerer, speed),
        None if speed is None else speed.reads,
    )


_FACT, _NEAR, _USUAL_NEAR = 70, 45, 1
"""Tokens of a fact and of a near-duplicate, and how many a kind has by itself, about."""
_NEW = 64
"""Tokens that are read for a further question about a window that the server has in its cache."""
_EXCHANGE, _WORD = 400, 2.5
"""Tokens of the last exchange, and of a word of a document, its dates and sources with it."""
_RECALLED_SHARE = 0.15
"""Of what `jit` may recall, it recalls about so much."""


def seconds_of(cells: Iterable[Cell], answerer: Answerer, speed: Speed) -> float:
    """Estimate how long asking takes, one request after the other, by a speed.

    A server that keeps the last prompt, as llama.cpp does, reads the beginning of a window once a
    conversation, and of the questions that follow only what is new: in `jit`, what was recalled.
    A conversation holds as many facts as take a third of it.
    """
    read, asked = 0.0, 0
    places = Counter((each.mode, each.length, each.near, each.repeat) for each in cells)
    for (mode, length, near, _), number in places.items():
        size = window_tokens(mode, length, answerer)
        if size is None:
            continue
        fact = _FACT + _NEAR * (_USUAL_NEAR if near is None else near)
        wholes = min(number, ceil(number * fact * 3 / length))
        recalled = answerer.retrieved * _RECALLED_SHARE if mode.recalls else 0.0
        read += wholes * size + (number - wholes) * (_NEW + recalled)
        asked += number
    return read / speed.reads + asked * speed.answer / speed.writes


QUICK = 90.0
"""Seconds that `quick` may take of a model whose speed is known."""
_LEAST_LENGTHS = 2


def fitted(experiment: Experiment, answerer: Answerer, within: float | None = None) -> Experiment:
    """Fit a preset to who answers; a grid of the user's own, and the reader's, stay. Pure.

    Lengths that do not fit the model in `full` are left out. `quick` of a model that would take
    longer than `QUICK` is asked at fewer lengths, depths and repeats, with two near-duplicates of
    each fact, where real models fail first. Two lengths and all modes are always left. A run that
    is held to a time of its own, `within` so many seconds, is not made smaller.
    """
    if answerer.is_reader or experiment.preset not in PRESETS:
        return experiment
    lengths = experiment.lengths
    fit = [each for each in lengths if window_tokens(Mode.FULL, each, answerer) is not None]
    fits = replace(experiment, lengths=tuple(fit) if fit[1:] else lengths[:_LEAST_LENGTHS])
    speed = answerer.speed if within is None else None
    if experiment.preset != PRESETS[0] or speed is None or _is_quick(fits, answerer, speed):
        return fits
    depths = fits.depths
    fewer = dict.fromkeys((depths, (depths[0], depths[-1]), (depths[len(depths) // 2],)))
    grids = [
        replace(fits, lengths=fits.lengths[:count], depths=each, repeats=repeats, near=(2,))
        for each in fewer
        for count in range(len(fits.lengths), _LEAST_LENGTHS - 1, -1)
        for repeats in range(fits.repeats, 0, -1)
    ]
    grids.sort(key=lambda grid: grid.size, reverse=True)
    return next((grid for grid in grids if _is_quick(grid, answerer, speed)), grids[-1])


def _is_quick(experiment: Experiment, answerer: Answerer, speed: Speed) -> bool:
    return seconds_of(experiment.cells(), answerer, speed) <= QUICK


def _cost(tokens: int, answers: int, answerer: Answerer) -> float | None:
    """Price them; what a picker that is elsewhere costs is not known, so it is never for free."""
    if answerer.is_here:
        return 0.0
    if answerer.input_price is None or answerer.output_price is None:
        return None
    cost = (tokens * answerer.input_price + answers * answerer.output_price) / 1e6
    return cost if cost or not answerer.picker else None


def window_tokens(mode: Mode, length: int, answerer: Answerer) -> int | None:
    """Say how large a window is, about, in a conversation of so many tokens; None: too large.

    Of a mode that distils, how large it may become: nothing is distilled yet.
    """
    room = answerer.limit - answerer.reserve
    full = length + answerer.around
    recency = min(length, answerer.recent) + answerer.around
    if mode is Mode.FULL:
        return full if full <= room else None
    if mode.distils:
        return min(answerer.around + _EXCHANGE + _distilled(mode, length, answerer.limit), room)
    retrieved = Budget(retrieved=answerer.retrieved).retrieved_of(length) if mode.recalls else 0
    return min(full, recency + retrieved, room)


def _distilled(mode: Mode, length: int, limit: int) -> int:
    """Bound what is distilled of so many tokens of turns, as what is built in does it."""
    if mode is Mode.OBSERVE:
        return min(int(length * DENSEST), Thresholds().observations(limit))
    return min(length, int(MOST_WORDS * _WORD))


def _span(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def sentence(estimate: Estimate) -> str:
    """Tell it: `420 requests, ~1,240,000 tokens in, ~26,880 out (64 an answer), ~$0.41`."""
    asked = plural(estimate.requests, "request")
    each = estimate.output_tokens // (estimate.requests or 1)
    told = (
        f"{asked}, ~{estimate.input_tokens:,} tokens in, ~{estimate.output_tokens:,} out"
        f" ({each:,} an answer), {about_cost(estimate.cost)}."
    )
    if estimate.seconds is not None and estimate.reads is not None:
        told += f" About {_span(estimate.seconds)} at {estimate.reads:,.0f} tokens a second."
    if estimate.bounded:
        modes = enumerated([str(mode) for mode in estimate.bounded])
        told += f" The windows of {modes} are taken at their largest: nothing is distilled yet."
    if estimate.unfit:
        do = "does" if estimate.unfit == 1 else "do"
        told += f" {plural(estimate.unfit, 'cell')} {do} not fit: nothing is sent for them."
    if estimate.picked:
        picker = one_line(estimate.picker)
        told += f" Besides, up to {plural(estimate.picked, 'request')} to the picker {picker}."
    return told
