"""Records a send in the cold store while it runs: the draft, the window, the reply as it grows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from types import TracebackType

from jitchat.errors import EmptyDraft, JitchatError, NotAnAnswer, StoreError
from jitchat.events import (
    Event,
    LimitLearnt,
    ReasoningDelta,
    ReasoningFound,
    ReplyDelta,
    RequestAdapted,
    RetryScheduled,
    SendFailed,
    TurnIndexed,
    TurnStored,
    UsageReported,
    WindowBuilt,
)
from jitchat.memory import Memory
from jitchat.providers.provider import (
    Adapted,
    Delta,
    Finished,
    Piece,
    Posted,
    Reasoning,
    ReasoningEnded,
    Retrying,
    ToolCall,
    posted_fields,
    posted_from,
)
from jitchat.store.replies import ReplyWriter
from jitchat.store.store import require
from jitchat.store.windows import Ending, PostedRequests, WindowRecord
from jitchat.text.sanitize import shorten
from jitchat.threads import to_the_end
from jitchat.values import Mode, Role, Status, Turn, Usage
from jitchat.window.record import header_fields, ledger_fields, segment_fields
from jitchat.window.window import ContextWindow


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. Moments are seconds of whichever clock it is made with."""

    mode: Mode
    window: ContextWindow | None = None
    """What was sent for it last; None before it left."""
    text: str = ""
    left_at: float | None = None
    """When that window left, or leaves once more after a pause; None before."""
    first_at: float | None = None
    """When its first piece came, text or reasoning; None before."""
    ended_at: float | None = None
    """When it was over, one way or another; None before."""
    usage: Usage | None = None
    """What the provider reported; None where it did not."""
    cost: float | None = None
    """In US dollars, once it is over; None where that is not known."""
    counted: int = 0
    """Tokens of the text by the own counter, once it is over."""
    reply: Turn | None = None
    """As it was stored; None before that, and where it was stopped."""
    error: JitchatError | None = None
    """Why it failed, or was cut."""
    told: str = ""
    """What is to be known of the request, as a sentence; mostly empty."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.ended_at is not None

    @property
    def was_stopped(self) -> bool:
        """Whether it ended before anybody said how."""
        return self.is_over and self.reply is None and self.error is None

    @property
    def to_first(self) -> float | None:
        """Seconds from its window's leaving to its first token; None where none came."""
        return _between(self.left_at, self.first_at)

    @property
    def took(self) -> float | None:
        """Seconds from its window's leaving to its end; None before, and where none left."""
        return _between(self.left_at, self.ended_at)

    def ended(self, moment: float, cost: float | None, counted: int) -> Answer:
        """Close it: nothing more comes."""
        return replace(self, ended_at=moment, cost=cost, counted=counted)


def answer_after(answer: Answer, event: Event, moment: float) -> Answer:
    """Take in an event that was reported for it at that moment."""
    match event:
        case WindowBuilt(window, _):
            return replace(answer, window=window, left_at=moment)
        case ReplyDelta(text):
            first = moment if answer.first_at is None else answer.first_at
            return replace(answer, text=answer.text + text, first_at=first, told="")
        case ReasoningDelta():
            first = moment if answer.first_at is None else answer.first_at
            return replace(answer, first_at=first, told="")
        case ReasoningFound():
            return replace(answer, text="")
        case _:
            return _after_report(answer, event, moment)


def _after_report(answer: Answer, event: Event, moment: float) -> Answer:
    """Take in what is told beside the text."""
    match event:
        case UsageReported(usage, _):
            return replace(answer, usage=usage)
        case TurnStored(turn) if turn.role is Role.ASSISTANT:
            return replace(answer, reply=turn)
        case SendFailed(error, _):
            return replace(answer, error=error)
        case RetryScheduled(seconds, why):
            told = f"{why}; sent again in {seconds:.0f} s"
            return replace(answer, left_at=moment + seconds, told=told)
        case RequestAdapted(sentence) | LimitLearnt(_, sentence):
            return replace(answer, told=sentence)
        case _:
            return answer


def _between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else end - start


_SHOWN = 300
"""Characters of why a model stopped that are told."""
_STOPPED = (GeneratorExit, asyncio.CancelledError, KeyboardInterrupt)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is sent, and where in the conversation it stands."""

    draft: str
    after: int | None = None
    """The position of the turn that it follows, 0 for none; None for the last one."""
    again: Turn | None = None
    """The user's turn that is to be answered once more; it is not stored anew."""
    provider: str = ""
    """Who answers, as the settings call it."""
    cost: Callable[[Usage | None], float | None] = lambda _: None
    """Prices what was used, in US dollars, or what nobody reported."""
    on_stored: Callable[[], object] = lambda: None
    """Told, in whichever thread, that the draft is a turn now."""


class Exchange:
    """A message from the moment it is sent.

    Leaving it commits how it ended, in a thread, and nothing can cancel that. A thread that a
    cancelled task left behind may still be writing: the lock makes leaving wait for it, and one
    that starts later writes nothing.
    """

    def __init__(self, memory: Memory, outgoing: Outgoing) -> None:
        self._memory, self._outgoing = memory, outgoing
        self._lock = threading.Lock()
        self._said: Turn | None = None
        self._window_id: int | None = None
        self._posted: Posted | None = None
        self._writer: ReplyWriter | None = None
        self._saved = False
        self._finished: Finished | None = None
        self._reply: Turn | None = None
        self._error: JitchatError | None = None
        self.sent: ContextWindow | None = None
        """The window that left last."""
        self.usage: Usage | None = None
        """What the provider reported last."""
        self.is_due = False
        """Whether the growing reply is to be saved now."""
        self.is_over = False
        self._ended = Status.CUT
        """How a reply ended that could not be stored."""

    async def __aenter__(self) -> None:
        """Nothing is open before the draft is stored."""

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> bool:
        """Commit what came, however it ended. An error of ours is kept for `outcome`."""
        await to_the_end(partial(self._leave, error))
        return isinstance(error, JitchatError)

    def _leave(self, error: BaseException | None) -> None:
        if isinstance(error, JitchatError):
            self._error = error
        with self._lock:
            try:
                self._commit(error)
            except StoreError as refused:
                self._error = self._error or refused
                self._ended = self._status(error)
                self._give_up()
                if self._writer is not None:
                    self._memory.store.unstored.keep(self)
                if isinstance(error, _STOPPED):
                    raise  # whoever stopped it hears no further event
            finally:
                self.is_over = True

    @property
    def has_begun(self) -> bool:
        """Whether anything of a reply came."""
        return self._writer is not None

    @property
    def unstored(self) -> int | None:
        """From which character on the reply is not stored; None where all of it is."""
        if not self.is_over or self._writer is None or self._reply is not None:
            return None
        return self._writer.stored

    @property
    def conversation(self) -> str:
        """Where the reply belongs."""
        return self._memory.conversation.id

    @property
    def rest(self) -> str:
        """What came of the reply and is not stored."""
        if self._writer is None or self._reply is not None:
            return ""
        return self._writer.text[self._writer.stored :]

    def store_again(self) -> Turn | None:
        """Store what could not be stored; None where the reply still grows, or is stored.

        Raises:
            StoreError: It still cannot.

        """
        with self._lock:
            if self._writer is not None and not self.is_over:
                self._writer.save()
                self._saved = True
            if self.unstored is None or self._writer is None:
                return None
            if self._said is not None:
                self._memory.store.set_status(self._said, Status.COMPLETE)
            self._reply = self._writer.finish(self._ended)
            self._memory.refresh()
            if self._window_id is not None:
                self._memory.archive.close(self._window_id, self._ending())
            return self._reply

    def store_draft(self) -> Turn:
        """Commit what the user says; a turn that is answered again is there already."""
        if not self._outgoing.draft.strip():
            raise EmptyDraft("There is nothing to send.", "Type a message first.")
        with self._writing():
            draft, after = self._outgoing.draft, self._outgoing.after
            self._said = self._outgoing.again or self._memory.add_user_turn(draft, after)
            self._outgoing.on_stored()
            return self._said

    def store_window(self, said: Turn, built: WindowBuilt) -> None:
        """Commit the window that is about to leave."""
        ids = {turn.position: turn.id for turn in self._memory.turns}
        segments = [
            segment_fields(segment) | {"turn_id": ids.get(segment.turn or 0)}
            for segment in built.window.segments
        ]
        ledger = [ledger_fields(row) for row in built.window.ledger]
        header, now = header_fields(built.window), self._memory.store.now()
        record = WindowRecord(built.digest, header, segments, ledger, now)
        with self._writing():
            self._keep_request()
            self._window_id = self._memory.archive.put(said.id, record)
        self.sent = built.window

    def take(self, piece: Piece) -> Iterator[Event]:
        """Keep a piece of the stream and report it."""
        match piece:
            case Usage():
                self.usage = self._believed(piece)
                yield UsageReported(self.usage, self._outgoing.cost(self.usage))
            case Retrying(seconds, why, asks_for_less):
                yield RetryScheduled(seconds, why, asks_for_less)
            case Adapted(sentence):
                yield RequestAdapted(sentence)
            case Posted():
                self._posted = piece
            case Finished():
                self._finished = self._finished or piece
            case _:
                yield from self._grow(piece)

    def save(self) -> None:
        """Make what arrived durable. If that fails, the answer goes on: `finish` will tell."""
        with self._writing():
            if self._writer is not None:
                try:
                    self._writer.save()
                    self._saved = True
                except StoreError:
                    self._memory.store.unstored.keep(self)
        self.is_due = False

    def finish(self) -> None:
        """Commit the whole reply."""
        if self._writer is None:
            raise self._nothing()
        with self._writing():
            self._commit(None)
            self.is_over = True
        if not self._writer.text.strip():
            raise NotAnAnswer(
                "The model reasoned and gave no answer.",
                "Its reasoning is kept. Regenerate the reply, or allow a longer one.",
            )

    def _nothing(self) -> NotAnAnswer:
        """Make the error for an answer without text, with the reason where one came."""
        finished = self._finished
        if finished is None or finished.is_whole:
            return NotAnAnswer("The model answered with nothing.", "Send again.")
        why = shorten(f"{finished.why} ({finished.told})", _SHOWN)
        return NotAnAnswer(f"The model answered with nothing: {why}.", finished.remedy)

    def outcome(self) -> Iterator[Event]:
        """Report how it ended."""
        if self._reply is not None:
            yield TurnStored(self._reply)
        if self._error is not None:
            yield SendFailed(self._error, self._outgoing.draft)

    def index(self) -> list[Event]:
        """Index the message and its reply: one batch, for a long backlog is not waited for."""
        try:
            indexed = list(self._memory.catch_up(batches=1))
            return [TurnIndexed(entry) for entries in indexed for entry in entries]
        except JitchatError as error:
            return [] if self._error else [SendFailed(error, self._outgoing.draft)]

    def _believed(self, usage: Usage) -> Usage:
        """Take an output of 0 beside a reply for what it is: no report."""
        if usage.output_tokens or self._writer is None:
            return usage
        return replace(usage, output_tokens=None)

    def _grow(self, piece: Piece) -> Iterator[Event]:
        """Let the reply grow by a piece of it."""
        match piece:
            case Delta(text) if text:
                yield self._grow_text(text)
            case ToolCall(name, arguments):
                yield self._grow_text(f"\n\n[tool call: {name} {arguments}]\n")
            case Reasoning(text) if text:
                self.is_due = self._growing().add_reasoning(text)
                yield ReasoningDelta(text)
            case ReasoningEnded() if self._writer is not None:
                self._writer.all_was_reasoning()
                yield ReasoningFound()

    def _grow_text(self, text: str) -> ReplyDelta:
        self.is_due = self._growing().add(text)
        return ReplyDelta(text)

    def _growing(self) -> ReplyWriter:
        if self._writer is None:
            beside = self._outgoing.again is not None
            self._writer = self._memory.begin_reply(self._said, beside=beside)
        return self._writer

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            if self.is_over:
                raise RuntimeError("the exchange was left while a thread was on its way")
            yield

    def _commit(self, error: BaseException | None) -> None:
        """Write how it ended; may be done again."""
        if self.is_over:
            return
        if self._writer is not None:
            self._reply = self._writer.finish(self._status(error))
            self._memory.refresh()
        else:
            self._mark_unanswered()
        if self._window_id is not None:
            self._memory.archive.close(self._window_id, self._ending())
        self._keep_request()

    def _keep_request(self) -> None:
        """Store what was posted for the window that left."""
        if self._posted is not None and self._window_id is not None:
            requests = PostedRequests(self._memory.store.database)
            requests.keep(self._window_id, posted_fields(self._posted))
        self._posted = None

    def _mark_unanswered(self) -> None:
        """Keep the message and leave it out; one that was answered before, stays as it is."""
        if self._said is not None and self._outgoing.again is None:
            self._memory.mark_unanswered(self._said)

    def _ending(self) -> Ending:
        usage, stop = self.usage, self._finished.told if self._finished else None
        cost, reply_id = self._outgoing.cost(usage), self._reply.id if self._reply else None
        return Ending(reply_id, usage, stop, cost, self._outgoing.provider)

    def _give_up(self) -> None:
        """No reply can be stored: without one, the user's turn is unanswered."""
        if self._reply is None and not self._saved:
            with suppress(StoreError):
                self._mark_unanswered()

    def _status(self, error: BaseException | None) -> Status:
        if self._finished is not None:
            return Status.COMPLETE if self._finished.is_whole else Status.CUT
        return Status.CANCELLED if isinstance(error, _STOPPED) else Status.CUT


def posted_for(memory: Memory, window_id: int) -> Posted | None:
    """Load what was posted for a window; None where nothing was, or it was not kept.

    Raises:
        StoreUnreadable: What is kept of it is damaged.

    """
    database = memory.store.database
    fields = PostedRequests(database).of(window_id)
    if fields is None:
        return None
    try:
        posted = posted_from(fields)
        require(str, posted.provider, posted.url, posted.sha256)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise database.damaged() from error
    return posted
