"""The observer by a model: turns in, dated lines with their sources out.

The model gets the turns of a batch and the last notes before them. If these are too large for it, a
larger fallback model gets them; if they are too large for both, their messages are cut, and a
notice says so. The answer is read strictly: a line that names none of the given turns is dropped.
So is a line that another turn says and the named turns do not, because a turn may instruct the
model what to write. If no line is left, or if the server fails, the built-in observer makes the
lines, and a notice says so.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from itertools import chain, groupby

from jitchat.errors import JitchatError, NotAnAnswer
from jitchat.small_models.small_model import SizedModel, SizedModels, SmallModel, request_of
from jitchat.statements import FactKind, Observation, Observations, Priority, Source
from jitchat.store.requests import Purpose
from jitchat.synthesis.extraction import facts_by_rule, facts_of, may_state
from jitchat.synthesis.extractive import ExtractiveObserver
from jitchat.synthesis.observer import Batch, FactsMade, Made
from jitchat.synthesis.passes import fault_of, reflection_fault
from jitchat.synthesis.policy import pieces
from jitchat.synthesis.sentences import by_turn, words_of
from jitchat.text.dates import dates_in
from jitchat.text.expressions import expressions
from jitchat.text.sanitize import both_ends, one_line, shorten
from jitchat.text.words import stems
from jitchat.values import Message, Role, Turn
from jitchat.window.exchange import is_requested
from jitchat.window.render import quote_all
from jitchat.window.statements import observation_line
from jitchat.writing.calls import flattened

_AHEAD = 12
"""Earlier notes that are shown, so that the model can distinguish what is new."""
_LARGEST = 24_000
"""Maximum characters of a message that is shown at once; a larger one is shown in parts."""
_SHORTEST = 400
"""Characters to which messages are cut at most, by halves; the last half can be shorter."""
_CUT = "its largest messages were cut: too large for every model"
_WORDS = 0.7
"""Words per token, roughly: models follow a limit in words better than one in tokens."""
_LONGEST = 1_200
"""Maximum characters of a line."""
_SAID = 0.5
"""A turn with at least this share of a line's words counts as its source."""
_CHOICES = 200
"""Maximum tokens of an answer that chooses sentences."""
_KINDS = {kind.partition(" ")[0]: kind for kind in FactKind}

_Request = Callable[[int], tuple[Message, ...]]
"""Makes a request that shows at most the given number of characters of each message."""
_Read = Callable[[str], Iterable[Observation]]
"""Reads the lines of a reply."""


class ModelObserver(SizedModels):
    def __init__(self, models: Sequence[SizedModel]) -> None:
        super().__init__(models)
        self._extractor = ExtractiveObserver(models[0].model.counter)

    @property
    def name(self) -> str:
        return self.models[0].model.name

    async def observe(self, batch: Batch) -> Made:
        """Have a batch observed; a very large message is observed in parts."""
        parts = [replace(batch, turns=turns) for turns in _parts(batch.turns)]
        tasks = [(_observing(part), _reads(part.turns)) for part in parts]
        fault = partial(fault_of, turns=batch.turns)
        instead = partial(self._extractor.observe_now, batch)
        return await self._made(tasks, batch.room, fault, instead)

    async def reflect(self, standing: Observations, room: int) -> Made:
        task = _reflecting(standing, room), _reads_again(standing.lines)
        fault = partial(reflection_fault, standing=standing.lines)
        instead = partial(self._extractor.reflect_now, standing, room)
        return await self._made([task], room, fault, instead)

    async def _made(
        self,
        tasks: Sequence[tuple[_Request, _Read]],
        room: int,
        fault_in: Callable[[Sequence[Observation]], str],
        instead: Callable[[str], Made],
    ) -> Made:
        """Have tasks done one after the other; if any fails, `instead` makes the lines."""
        made = Made((), self.name)
        try:
            for request, read in tasks:
                made = await self._with_lines(made, room, request, read)
            if fault := fault_in(made.lines):
                raise NotAnAnswer(f"{fault}.", "Name another model.")
        except JitchatError as error:
            own = await asyncio.to_thread(instead, self._failed(error))
            return replace(made, lines=own.lines, by=own.by, notice=own.notice)
        return made

    async def _with_lines(self, made: Made, room: int, request: _Request, read: _Read) -> Made:
        """Add the lines of one request, and what it cost."""
        model, messages, is_cut = await asyncio.to_thread(self._reaching, request, room)
        reply = await model.ask(messages)
        return Made(
            (*made.lines, *read(reply.whole())),
            model.name,
            _CUT if is_cut else made.notice,
            made.input_tokens + reply.input_tokens,
            made.output_tokens + reply.output_tokens,
            None if None in (made.cost, reply.cost) else (made.cost or 0.0) + (reply.cost or 0.0),
        )

    async def facts(self, turns: Sequence[Turn], conversation: str) -> FactsMade:
        """Have the model choose sentences that state facts; send nothing if none can."""
        said = [(turn, sentence) for turn in turns for sentence in may_state(turn)]
        if not said:
            return FactsMade()
        try:
            request = _choosing([sentence for _, sentence in said])
            model, messages, _ = await asyncio.to_thread(self._reaching, request, _CHOICES)
            reply = await replace(model, purpose=Purpose.FACTS).ask(messages)
            kinds = _kinds(reply.whole())
        except JitchatError as error:
            return await asyncio.to_thread(facts_by_rule, turns, conversation, self._failed(error))
        chosen: dict[int, dict[str, FactKind]] = {turn.position: {} for turn in turns}
        for number, (turn, text) in enumerate(said, start=1):
            if number in kinds:
                chosen[turn.position][text] = kinds[number]
        facts = (facts_of(turn, conversation, chosen[turn.position]) for turn in turns)
        return FactsMade(tuple(chain.from_iterable(facts)))

    def _failed(self, error: JitchatError) -> str:
        return f"{one_line(self.name)} failed: {shorten(error.what, 200).rstrip('.')}"

    def _reaching(
        self, request: _Request, room: int
    ) -> tuple[SmallModel, tuple[Message, ...], bool]:
        """Choose the smallest model that takes the whole request, else the largest, with a cut one.

        Returns also the request, and whether it is cut.
        """
        messages = request(_LARGEST)
        if model := self._fitting(messages, room):
            return model, messages, False
        largest = max(self.models, key=lambda sized: sized.limit)
        reach = _LARGEST
        while not largest.takes(messages, room) and reach > _SHORTEST:
            reach //= 2
            messages = request(reach)
        return largest.model, messages, True


def _parts(turns: Sequence[Turn]) -> Iterator[tuple[Turn, ...]]:
    """Group turns; messages that are too large to be shown with others come alone, in parts."""
    shown = (flattened(turn) for turn in turns if not is_requested(turn))
    for is_small, group in groupby(shown, key=lambda turn: len(turn.content) <= _LARGEST):
        if is_small:
            yield tuple(group)
            continue
        for turn in group:
            yield from ((replace(turn, content=part),) for part in pieces(turn.content, _LARGEST))


def _observing(batch: Batch) -> _Request:
    lines = batch.standing.lines[-_AHEAD:]
    notes = [observation_line(line) for line in lines]

    def request(reach: int) -> tuple[Message, ...]:
        shown = [
            replace(turn, content=both_ends(turn.content, reach // 2, " … "))
            for turn in batch.turns
        ]
        return request_of("observer", _room(batch.room), notes=notes, turns=quote_all(shown))

    return request


def _choosing(sentences: Sequence[str]) -> _Request:
    lines = [f"#{number} {one_line(text)}\n" for number, text in enumerate(sentences, start=1)]
    return lambda _: request_of("facts", said=lines)


def _kinds(reply: str) -> dict[int, FactKind]:
    """Read the numbers of the chosen sentences, and the kind of each.

    Raises:
        NotAnAnswer: The reply has no line in the requested format and is not `none`.

    """
    find_choice = expressions("observations")["chosen_sentence"].search
    lines = [find_choice(line) for line in reply.splitlines()]
    kinds = {int(line["number"]): _KINDS[line["kind"].lower()] for line in lines if line}
    if not kinds and not expressions("observations")["none_chosen"].fullmatch(reply.strip()):
        raise NotAnAnswer("Its answer chooses no sentence.", "Name another model.")
    return kinds


def _reflecting(standing: Observations, room: int) -> _Request:
    def request(reach: int) -> tuple[Message, ...]:
        notes: list[str] = []
        previous: Observation | None = None
        for line in standing.lines:
            shown = replace(line, text=both_ends(line.text, reach // 2, " … "))
            day = _day(line)
            heading = f"{day:%a %Y-%m-%d}\n" if day is not None and day != _day(previous) else ""
            notes.append(heading + observation_line(shown, previous))
            previous = line
        return request_of("reflector", _room(room), notes=notes)

    return request


def _day(line: Observation | None) -> date | None:
    return line.said_at.date() if line is not None and line.said_at is not None else None


def _room(tokens: int) -> dict[str, object]:
    return {"room": max(20, int(tokens * _WORDS))}


@dataclass(frozen=True, slots=True)
class _Known:
    """A turn that lines can name."""

    words: frozenset[str]
    said_at: datetime | None
    is_result: bool = False
    """Whether it is a tool's result, in which nothing is a commitment."""


def _reads(turns: Sequence[Turn]) -> _Read:
    known: dict[int, _Known] = {}
    for turn in turns:
        words = frozenset(stems(f"{turn.speaker} {turn.content}"))
        known[turn.position] = _Known(words, turn.created_at, turn.role is Role.TOOL)
    return _reader(known)


def _reads_again(lines: Sequence[Observation]) -> _Read:
    """Return a reader for lines that replace others, which are taken as their turns' content."""
    known: dict[int, _Known] = {}
    for turn, line in by_turn(lines):
        said_at = line.said_at if turn == line.source.first else None
        before = known.get(turn, _Known(frozenset(), None))
        known[turn] = _Known(before.words | words_of(line.text), before.said_at or said_at)
    return _reader(known)


def _reader(known: Mapping[int, _Known]) -> _Read:
    """Return a function that reads an answer, dropping lines that their turns do not say."""

    def read(reply: str) -> Iterator[Observation]:
        match_note = expressions("observations")["note_line"].fullmatch
        matches = [match_note(line.strip()) for line in reply.splitlines()]
        lines = [_observation(match, known) for match in matches if match]
        said = [line for line in lines if line is not None]
        yield from sorted(said, key=lambda line: line.source.first)

    return read


def _observation(match: re.Match[str], known: Mapping[int, _Known]) -> Observation | None:
    first = int(match["first"])
    last = int(match["last"] or first)
    named = [turn for turn in known if first <= turn <= last]
    text = shorten(match["text"].rstrip(), _LONGEST)
    if not named or not any(map(str.isalnum, text)) or _is_of_another(text, named, known):
        return None
    source = Source(min(named), max(named))
    level = Priority((match["level"] or Priority.MEDIUM).lower())
    if level is Priority.HIGH and all(known[turn].is_result for turn in named):
        level = Priority.MEDIUM
    said_at = known[source.first].said_at
    spelt = dates_in(text, None)
    resolved = dates_in(text, said_at.date()) if said_at is not None else ()
    refers = tuple(day for day in resolved if day not in spelt and day[:4].isdigit())
    return Observation(text, source, level, said_at, refers)


def _is_of_another(text: str, named: Sequence[int], known: Mapping[int, _Known]) -> bool:
    """Whether another turn says a line, and the turns that it names do not."""
    words = words_of(text)
    least = _SAID * len(words)
    own = frozenset[str]().union(*(known[turn].words for turn in named))
    if len(words & own) >= least:
        return False
    return any(len(words & turn.words) >= least for turn in known.values())
