"""THE LAB: plant facts, grow the conversation, ask in each mode through the ordinary flow.

Nothing is staged: a conversation is stored and indexed like an imported one, each question is sent
as the chat sends it, and a cell is right only if the received answer is.

Everything runs in one event loop: `Lab.run`, its workers and the listener for events. CPU and disk
work (generating a conversation, storing, indexing, storing a result) is done in a thread that the
worker waits for, even when it is cancelled.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from jitchat import errors
from jitchat.bench.asking import turns_held
from jitchat.bench.evidence import words_of_turn
from jitchat.bench.workers import Workers
from jitchat.distil import distil
from jitchat.events import AnswerProgress, Event, RetryScheduled, SendFailed
from jitchat.index.embedder import Embedder
from jitchat.lab import events, planting
from jitchat.lab.experiment import Cell, Result, Verdict
from jitchat.lab.facts import Fact, stems_to_avoid
from jitchat.lab.filler import exchanges
from jitchat.lab.grade import Decision, Judge, decide
from jitchat.lab.run_file import RunFile
from jitchat.memory import Memory
from jitchat.session import Session
from jitchat.store.path import Path
from jitchat.store.windows import WindowArchive
from jitchat.text.sanitize import repair
from jitchat.text.words import stems
from jitchat.threads import to_the_end
from jitchat.values import Conversation, Status, Turn
from jitchat.window.budget import Budget
from jitchat.window.steering import Once
from jitchat.window.tokens import TokenCounter, message_tokens
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class Needed:
    """The turns of a conversation that the answer to a fact's question needs."""

    conversation: str
    """The conversation's id."""
    turns: Mapping[int, str]
    """The turns' texts, by position."""
    fact: Fact


def needed_held(window: ContextWindow, needed: Needed) -> int:
    """Count the needed turns that a window holds.

    Statements hold a turn if those that cite it contain the answer's words or, if the turn does
    not state the answer, the words that the turn shares with the question.
    """
    whole = turns_held(window)
    return sum(turn in whole or _carries(window, turn, needed) for turn in needed.turns)


def _carries(window: ContextWindow, turn: int, needed: Needed) -> bool:
    if turn > window.distilled_through:
        return False
    fact, heard = needed.fact, frozenset(stems(needed.turns[turn]))
    wanted = heard.intersection(stems(" ".join(fact.accepted[:1])))
    wanted = wanted or heard.intersection(stems(fact.question))
    # The document names the conversation of a turn, observations do not.
    carried = (words_of_turn(window, turn, name) for name in ("", needed.conversation))
    return bool(wanted) and any(wanted <= words for words in carried)


GIVE_UP = 10
"""Number of consecutive failures after which the run is aborted."""
_LATER = timedelta(hours=1)
"""Time between the last turn of a generated conversation and its questions."""
_WORTH_REPORTING = 1.0
"""Minimum seconds of a pause that is reported."""
Hear = Callable[[events.LabEvent], object]
_Asked = tuple[Cell, Fact]


class Lab:
    def __init__(  # noqa: PLR0913  all that it is made of
        self,
        file: RunFile,
        open_session: Callable[[Memory], Session],
        embedder: Embedder,
        counter: TokenCounter,
        *,
        judge: Judge | None = None,
        parallel: int = 1,
        own: Sequence[Turn] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`own` are the turns of the user's conversation, if that is the filler."""
        self.file, self._open_session, self._embedder = file, open_session, embedder
        self._counter, self._judge, self._own, self._clock = counter, judge, own, clock
        self._workers = Workers(
            parallel, GIVE_UP, "The results so far are saved: resume the run to continue."
        )
        self._throttle = Throttle(self._workers)
        self.hear: Hear
        self._learnt: Budget | None = None
        """The budget with the limit learnt from a refusal; None if nothing was refused."""

    async def run(self, hear: Hear) -> None:
        """Ask every cell without an answer, and report events; results survive a cancellation.

        A cell whose request fails is asked again, and then marked as failed. If continuing is
        pointless, the run is aborted, and can be resumed.

        Raises:
            JitchatError: Results cannot be stored, or nothing can be asked.

        """
        begun_at, self.hear = self._clock(), hear
        try:
            await self._ask_all()
        finally:
            # Answers are stored, and the reason for the end is reported.
            with suppress(errors.StoreError):
                await to_the_end(lambda: self.file.spend(self._clock() - begun_at))
            if self._judge is not None:
                await self._judge.provider.aclose()

    async def _ask_all(self) -> None:
        left = await to_the_end(self._left)
        for number, (plan, cells) in enumerate(left, start=1):
            self.hear(events.ConversationBegun(number, len(left), plan.length))
            made = await to_the_end(partial(self.made, plan))
            await self._workers.run(cells, partial(self._work, number, plan.name, made))
            if self._is_given_up():
                return
        if left or self.file.run.ended_at is None:
            await to_the_end(self.file.end)
        self.hear(events.RunEnded())

    def _is_given_up(self) -> bool:
        if isinstance(self._workers.error, errors.StoreError):
            raise self._workers.error
        if self._workers.error is not None:
            self.hear(events.RunEnded(str(self._workers.error)))
        return self._workers.error is not None

    def plans(self) -> Iterator[planting.ConversationPlan]:
        return planting.plans(self.file.run.experiment, self._price)

    def _left(self) -> list[tuple[planting.ConversationPlan, list[_Asked]]]:
        experiment, left = self.file.run.experiment, set(self.file.left())
        laid_out = (
            (plan, [each for each in plan.cells(experiment.modes) if each[0] in left])
            for plan in self.plans()
        )
        return [(plan, cells) for plan, cells in laid_out if cells]

    def made(self, plan: planting.ConversationPlan) -> planting.MadeConversation:
        if not self._own:
            avoided = frozenset[str]().union(*(stems_to_avoid(each.fact) for each in plan.facts))
            asked = self.file.run.experiment
            filler = exchanges(f"{asked.seed} {plan.name}", avoided, asked.talk)
            return planting.made_up(plan, filler, self._price)
        try:
            return planting.made_of_own(plan, self._own, self._price)
        except ValueError as short:
            raise errors.BenchFailed(
                f"Your conversation has fewer than {plan.length:,} tokens in messages short enough"
                f" to plant facts between ({short}).",
                "Choose a shorter length, or a longer conversation.",
            ) from short

    def _price(self, text: str) -> int:
        return message_tokens(self._counter, text)

    async def _work(
        self,
        number: int,
        name: str,
        made: planting.MadeConversation,
        worker: int,
        cells: Iterator[_Asked],
    ) -> None:
        """Ask a worker's share of the cells, in the worker's own copy of the conversation."""
        begun = time.monotonic()
        copy = f"{name}-copy-{worker}" if worker else name
        conversation = await self.opened(copy, made)
        try:
            if worker == 0:
                seconds = time.monotonic() - begun
                self.hear(events.ConversationReady(number, len(made.turns), seconds))
            for cell, fact in cells:
                await self._ask(conversation, cell, fact)
        finally:
            await conversation.session.aclose()

    async def opened(self, name: str, made: planting.MadeConversation) -> "OpenConversation":
        self.file.moment = _moment_after(made)
        memory = await stored_and_indexed(self.file, name, made, self._embedder)
        for mode in self.file.run.experiment.modes:
            await distil(memory, mode, self._counter, self.file.run.limit)
        session = await to_the_end(partial(self._open_session, memory))
        if self._learnt is not None:
            session.take_budget(self._learnt)
        return OpenConversation(session, made)

    async def _ask(self, conversation: "OpenConversation", cell: Cell, fact: Fact) -> None:
        """Ask, retry once unless that is certain to fail too, and store the result."""
        await self._pause()
        self.hear(events.CellBegun(cell))
        decision = await self._decision(conversation, cell, fact)
        if decision.failure is not None and not _is_final(decision.failure):
            self.hear(events.CellRetried(cell, decision.failure.what))
            await self._pause()
            decision = await self._decision(conversation, cell, fact)
        await to_the_end(partial(self._keep, decision, conversation.session))
        self.hear(events.CellEnded(decision.result))
        if decision.failure is None:
            self._workers.succeeded()
            self._throttle.answered()
        elif _is_final(decision.failure):
            raise decision.failure
        else:
            self._workers.failed(decision.failure)

    async def _decision(self, conversation: "OpenConversation", cell: Cell, fact: Fact) -> Decision:
        asked, answer = await conversation.ask(cell, fact, self._slow_down)
        if _only_reasoned(answer) and await self._raises_cap(conversation.session):
            asked, answer = await conversation.ask(cell, fact, self._slow_down)
        return await decide(asked, fact, answer, self._judge)

    async def _raises_cap(self, session: Session) -> bool:
        """Raise the cap for a model that reasons, once a run; return whether it was lower here."""
        run, request = self.file.run, session.options.request
        if run.answer is None:
            return False
        if not run.reasons:
            await to_the_end(self.file.allow_reasoning)
            run = self.file.run
            self.hear(events.CapRaised(run.longest or 0))
        session.options = replace(session.options, request=replace(request, max_tokens=run.longest))
        return request.max_tokens != run.longest

    def _keep(self, decision: Decision, session: Session) -> None:
        """Store the result, and a limit learnt from a refusal, for the next conversations."""
        budget = session.options.budget
        self.file.keep(decision.result)
        if budget.limit < self.file.run.limit:
            self._learnt = budget
            self.file.relimit(budget.limit)

    async def _pause(self) -> None:
        """Wait if the throttle requires it, and report a long pause."""
        if self._throttle.pause >= _WORTH_REPORTING:
            parallel, why = self._workers.parallel, "the server asked for fewer requests"
            self.hear(events.Slowed(self._throttle.pause, why, parallel))
        await self._throttle.wait()

    def _slow_down(self, retry: RetryScheduled) -> None:
        if retry.asks_for_less:
            self.hear(self._throttle.slow_down(retry))


def _moment_after(made: planting.MadeConversation) -> datetime | None:
    last = made.turns[-1].created_at
    return last + _LATER if last is not None else None


def _only_reasoned(answer: AnswerProgress) -> bool:
    """Whether a reply was cut while the model was reasoning, before any text of the answer."""
    if answer.text.strip() or not isinstance(answer.error, errors.NotAnAnswer):
        return False
    if answer.reply is not None:
        return answer.reply.status is Status.CUT
    return answer.usage is not None and bool(answer.usage.reasoning_tokens)


def _is_final(failure: errors.ProviderError) -> bool:
    """Whether the same request is certain to fail again: the key is refused, or the wait long."""
    return isinstance(failure, errors.KeyRefused) or failure.retry_after is not None


_BATCHES = 8
"""Number of batches that are indexed between two checks for cancellation."""


async def stored_and_indexed(
    file: RunFile, name: str, made: planting.MadeConversation, embedder: Embedder
) -> Memory:
    """Store a conversation, unless it is stored already, and index it."""
    memory = await to_the_end(lambda: Memory(file.store, _stored(file, name, made), embedder))
    while await to_the_end(lambda: list(memory.index.catch_up(batches=_BATCHES))):
        pass
    if memory.index.failure is not None:
        raise memory.index.failure
    return memory


def _stored(file: RunFile, name: str, made: planting.MadeConversation) -> Conversation:
    store = file.store
    with store.database.write():
        known = next((each for each in store.conversations() if each.id == name), None)
        if known is None:
            # In a separate project, so that no other conversation is in its memory document.
            created = store.create(name, name, name)
            store.append(created.id, made.turns)
            return store.conversation(created.id)
        whole = Path(((1, len(made.turns)),))
        kept = [turn.content for turn in store.turns_of(name, whole)]
        if kept != [repair(turn.content) for turn in made.turns]:
            raise errors.BenchFailed(
                f"This jitchat generates other conversations than those of {file.run.id}.",
                "Start a new run.",
            )
        return known


class OpenConversation:
    """An open conversation. Each question is a fork after the last turn: none sees another."""

    def __init__(self, session: Session, made: planting.MadeConversation) -> None:
        self.session, self.made = session, made
        self._questions: dict[str, Turn] = {}
        """Questions that were asked, by the name of the fact."""

    async def ask(
        self,
        cell: Cell,
        fact: Fact,
        wait: Callable[[RetryScheduled], object],
        watch: Callable[[AnswerProgress], object] = lambda _: None,
    ) -> tuple[Result, AnswerProgress]:
        """Ask for a fact as the chat does; the result has no verdict yet.

        `wait` is called when the request has to wait, `watch` when the answer grows.
        """
        question = await to_the_end(partial(self._question, fact))
        account = self.session.spending.begin_message()
        sent = self.session.send(question.content, cell.mode, Once(again=question), account=account)
        answer = await self._answer(AnswerProgress(cell.mode), sent, wait, watch)
        if isinstance(answer.error, errors.StoreError | errors.SpendingLimitReached):
            raise answer.error
        answer = answer.ended(time.monotonic(), None, 0)
        cost = await to_the_end(account.cost)
        window_id = None
        if answer.reply is not None:
            archive = WindowArchive(self.session.memory.store.database)
            window_id = await to_the_end(partial(archive.window_id, question, answer.reply))
        window, needed = answer.window, tuple(self.made.needed.get(fact.name, ()))
        return Result(
            cell=cell,
            verdict=Verdict.FAILED,
            rule="no complete answer",
            question=fact.question,
            expected=fact.expected,
            answer=answer.text,
            conversation=self.session.memory.conversation.id,
            said=question.position,
            needed=needed,
            held=None if window is None else needed_held(window, self._needed(fact)),
            window_id=window_id,
            tokens=None if window is None else window.used,
            usage=answer.usage,
            to_first=answer.to_first,
            seconds=answer.took,
            cost=cost,
        ), answer

    def _needed(self, fact: Fact) -> Needed:
        positions = self.made.needed.get(fact.name, ())
        texts = {turn: self.made.turns[turn - 1].content for turn in positions}
        return Needed(self.session.memory.conversation.id, texts, fact)

    def _question(self, fact: Fact) -> Turn:
        """Add the question, or switch to it if it was added: every mode answers the same turn."""
        memory = self.session.memory
        question = self._questions.get(fact.name)
        if question is not None:
            memory.switch_to(question.position)
            return question
        question = memory.add_user_turn(fact.question, self.made.ends[fact.name])
        self._questions[fact.name] = question
        return question

    async def _answer(
        self,
        answer: AnswerProgress,
        sent: AsyncGenerator[Event, None],
        wait: Callable[[RetryScheduled], object],
        watch: Callable[[AnswerProgress], object],
    ) -> AnswerProgress:
        try:
            async with aclosing(sent) as events:
                async for event in events:
                    if isinstance(event, RetryScheduled):
                        wait(event)
                    answer = answer.after(event, time.monotonic())
                    watch(answer)
        except errors.JitchatError as error:
            answer = answer.after(SendFailed(error, ""), time.monotonic())
        return answer


_LONGEST, _LEAST = 60.0, 0.05
"""Maximum and minimum seconds of a pause before a request; a shorter pause is dropped."""
_FASTER = 0.5
"""The factor by which a pause shrinks after an answer without a wait."""
_MANY = 20


class Throttle:
    def __init__(
        self, workers: Workers, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._workers, self._most, self._sleep = workers, workers.parallel, sleep
        self.pause = 0.0
        """Seconds before a request."""
        self._in_a_row = 0
        """Consecutive answers without a wait."""
        self._is_slowed = False
        """Whether there was no answer since it slowed down: a burst of refusals counts once."""

    async def wait(self) -> None:
        if self.pause:
            await self._sleep(self.pause)

    def slow_down(self, retry: RetryScheduled) -> events.Slowed:
        """Reduce parallel requests and wait longer from now on, because a request is retried."""
        workers = self._workers
        if not self._is_slowed:
            workers.parallel = max(1, workers.parallel - 1)
            self.pause *= 2
        self._is_slowed, self._in_a_row = True, 0
        self.pause = min(_LONGEST, max(self.pause, retry.seconds))
        return events.Slowed(retry.seconds, retry.why, workers.parallel)

    def answered(self) -> None:
        self._is_slowed = False
        self._in_a_row += 1
        if self._in_a_row % _MANY == 0:
            self._workers.parallel = min(self._most, self._workers.parallel + 1)
        self.pause *= _FASTER
        if self.pause < _LEAST:
            self.pause = 0.0
