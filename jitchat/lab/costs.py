"""Estimates what a run is going to send: requests, tokens, cost and time."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil

from jitchat.lab.experiment import PRESETS, Cell, Experiment, Result
from jitchat.lab.stats import span
from jitchat.text.figures import about_cost, plural
from jitchat.text.sanitize import one_line
from jitchat.values import Mode

ANSWER_TOKENS = 64
"""Default maximum tokens of an answer."""
ENGINE_ANSWER_TOKENS = 32
"""The same for a model that jitchat runs: small models ramble, and write slower than they read."""


@dataclass(frozen=True, slots=True)
class Speed:
    """A model's speed, in tokens per second."""

    reads: float
    writes: float
    answer: float
    """Tokens of an answer, on average."""


def speed_of(results: Iterable[Result]) -> Speed | None:
    """Measure the speed from results; None if they do not suffice. Cached tokens are not read."""
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
    size: int
    """The tokens of a window once not everything fits."""
    input_price: float | None
    """US dollars per million tokens; None if unknown."""
    output_price: float | None
    """US dollars per million tokens; None if unknown."""
    is_here: bool
    """Whether all requests, the picker's too, are known to be free and to stay on this machine."""
    around: int = 128
    """Approximate tokens of a request besides the conversation: the system text, the question."""
    is_assumed: bool = False
    """Whether the context size is an assumption."""
    picker: str = ""
    """The model that picks the turns to recall before each request of `jit`; empty for none."""
    answer: int = ANSWER_TOKENS
    """Maximum tokens of an answer."""
    speed: Speed | None = None
    """As measured in earlier runs or by a probe; None if unknown."""

    @property
    def is_reader(self) -> bool:
        return self.provider == "reader"


@dataclass(frozen=True, slots=True)
class Estimate:
    requests: int
    input_tokens: int
    """Approximate."""
    output_tokens: int
    """Approximate."""
    cost: float | None
    """Approximate, in US dollars, without the picker's cost; None if no price is known."""
    unfit: int
    """Cells whose window is larger than the model's limit: nothing is sent for them."""
    picked: int = 0
    """Maximum number of additional requests to the picker."""
    picker: str = ""
    """The picker's model; empty for none."""
    seconds: float | None = None
    """Approximate duration of the requests, one after another; None if unknown."""
    reads: float | None = None
    """The reading speed in tokens per second that `seconds` is based on."""


def estimate_run(experiment: Experiment, answerer: Answerer) -> Estimate:
    """Estimate requests, tokens and cost of a whole run; pure.

    Ignores savings by a prompt cache, and the costs of retries and of a judge.
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
        picked,
        answerer.picker,
        None if speed is None else seconds_of(cells, answerer, speed),
        None if speed is None else speed.reads,
    )


_FACT, _NEAR, _USUAL_NEAR = 70, 45, 1
"""Approximate tokens of a fact and of a near-duplicate, and a kind's usual number of these."""
_NEW = 64
"""Tokens that are read for a further question about a window in the server's cache."""
_RECALLED_SHARE = 0.15
"""Approximate share of the tokens available for recall that `jit` uses."""


def seconds_of(cells: Iterable[Cell], answerer: Answerer, speed: Speed) -> float:
    """Estimate the duration in seconds of all requests, one after another, at a speed.

    A server that caches the last prompt, as llama.cpp does, reads the start of a window once per
    conversation, and only the new part for each further question: in `jit`, the recalled turns.
    Facts take up to a third of a conversation.
    """
    read, asked = 0.0, 0
    places = Counter((each.mode, each.length, each.near, each.repeat) for each in cells)
    for (mode, length, near, _), number in places.items():
        size = window_tokens(mode, length, answerer)
        if size is None:
            continue
        fact = _FACT + _NEAR * (_USUAL_NEAR if near is None else near)
        wholes = min(number, ceil(number * fact * 3 / length))
        recalled = answerer.size * _RECALLED_SHARE if mode.recalls else 0.0
        read += wholes * size + (number - wholes) * (_NEW + recalled)
        asked += number
    return read / speed.reads + asked * speed.answer / speed.writes


QUICK = 90.0
"""Maximum seconds of the preset `quick` if the model's speed is known."""
_LEAST_LENGTHS = 2


def fitted(experiment: Experiment, answerer: Answerer) -> Experiment:
    """Fit a preset to the model; the user's own grids, and the reader's, are unchanged. Pure.

    Lengths that do not fit the model in `full` are left out. If `quick` would take longer than
    `QUICK`, it asks at fewer lengths, depths and repeats, with two near-duplicates of each fact,
    where real models fail first. At least two lengths and all modes remain.
    """
    if answerer.is_reader or experiment.preset not in PRESETS:
        return experiment
    lengths = experiment.lengths
    fit = [each for each in lengths if window_tokens(Mode.FULL, each, answerer) is not None]
    fits = replace(experiment, lengths=tuple(fit) if fit[1:] else lengths[:_LEAST_LENGTHS])
    speed = answerer.speed
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
    """Return the cost in US dollars; None if unknown, also for free models with a remote picker."""
    if answerer.is_here:
        return 0.0
    if answerer.input_price is None or answerer.output_price is None:
        return None
    cost = (tokens * answerer.input_price + answers * answerer.output_price) / 1e6
    return cost if cost or not answerer.picker else None


def window_tokens(mode: Mode, length: int, answerer: Answerer) -> int | None:
    """Estimate the tokens of a window in a conversation of `length` tokens; None if too large."""
    room = answerer.limit - answerer.reserve
    full = length + answerer.around
    if mode is Mode.FULL:
        return full if full <= room else None
    return min(full, max(answerer.size, answerer.around), room)


def sentence(estimate: Estimate) -> str:
    """Describe it: `420 requests, ~1,240,000 tokens in, ~26,880 out (64 per answer), ~$0.41`."""
    asked = plural(estimate.requests, "request")
    each = estimate.output_tokens // (estimate.requests or 1)
    text = (
        f"{asked}, ~{estimate.input_tokens:,} tokens in, ~{estimate.output_tokens:,} out"
        f" ({each:,} per answer), {about_cost(estimate.cost)}."
    )
    if estimate.seconds is not None and estimate.reads is not None:
        text += f" About {span(estimate.seconds)} at {estimate.reads:,.0f} tokens per second."
    if estimate.unfit:
        text += f" {plural(estimate.unfit, 'cell does')} not fit, and will not be sent."
    if estimate.picked:
        picker = one_line(estimate.picker)
        text += f" In addition, up to {plural(estimate.picked, 'request')} to the picker {picker}."
    return text
