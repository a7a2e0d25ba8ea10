"""Records a send in the cold store while it runs: the draft, the window, the reply as it grows."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from jitchat import events
from jitchat.errors import EmptyDraft, JitchatError, NotAnAnswer, StoreError
from jitchat.files.clipboard import remove_taken
from jitchat.memory import Memory
from jitchat.metering import MessageAccount, taken, waits_for_retry, with_known_output
from jitchat.providers import provider
from jitchat.providers.answer import written
from jitchat.providers.tools import (
    NOT_RUN,
)
from jitchat.store.replies import ReplyWriter, end_answering
from jitchat.store.requests import NOT_BILLED, RequestLog, Taken
from jitchat.store.store import require
from jitchat.store.windows import Ending, WindowRecord
from jitchat.text.sanitize import shorten, skeleton
from jitchat.values import (
    Echo,
    Shortened,
    Status,
    ToolCall,
    ToolResult,
    ToolUse,
    Turn,
    Usage,
)
from jitchat.window.record import header_fields, ledger_fields, segment_fields
from jitchat.window.steering import Once
from jitchat.window.window import ContextWindow
from jitchat.writing.calls import INTERRUPTED

_SHOWN = 300
"""Characters shown of a stop reason."""
_CANCELLED = "No result: the user stopped the turn before the call returned."
_STOPPED = (GeneratorExit, asyncio.CancelledError, KeyboardInterrupt)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send, with its position in the conversation."""

    draft: str
    once: Once
    provider: str
    """The provider's name in the settings."""
    cost: Callable[[Usage | None], float | None]
    """Prices usage, reported or counted, in US dollars."""
    count: Callable[[str], int]
    """Counts tokens that are not reported."""
    on_stored: Callable[[], object]
    """Called, in any thread, when the draft is stored."""


class SendRecorder:
    """Records one message from the moment it is sent.

    `commit` writes its end. A thread left running by a cancelled task may still be writing: the
    lock makes `commit` wait for it, and a thread that starts later writes nothing.
    """

    def __init__(self, memory: Memory, outgoing: Outgoing) -> None:
        self._memory, self._outgoing = memory, outgoing
        self._lock = threading.Lock()
        self._turn: Turn | None = None
        """The user's turn."""
        self._behind: Turn | None = None
        """The turn that the answer follows: the user's, or the last of the previous step."""
        self._open: list[ToolCall] = []
        """Calls of the last step that have no result yet."""
        self._echo: Echo | None = None
        self._window_id: int | None = None
        self._request: provider.SentRequest | None = None
        self._waits = False
        """Whether the request was refused and waits to be sent again."""
        self._writer: ReplyWriter | None = None
        self._blank = ""
        """The blanks before the first word of the answer: alone, they are none."""
        self._saved = False
        self._finished: provider.Finished | None = None
        self._reply: Turn | None = None
        self._status = Status.CUT
        """The status of the reply."""
        self._is_over = False
        self.error: JitchatError | None = None
        """Why the send failed or its end could not be stored."""
        self.account = MessageAccount()
        self.window: ContextWindow | None = None
        """The window sent last."""
        self.usage: Usage | None = None
        """The usage reported last."""
        self.is_due = False
        """Whether the partial reply should be saved now."""

    @property
    def has_begun(self) -> bool:
        return self._writer is not None

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The answer's calls so far, of tools that were offered."""
        return self._writer.use.calls if self._writer is not None else ()

    @property
    def has_step(self) -> bool:
        """Whether the answer calls tools that must be run."""
        return bool(self.calls) and not (self._finished and self._finished.is_withheld)

    def store_draft(self, attached: Callable[[], Once]) -> Turn:
        """Commit the user's message with its files, unless the turn is answered again.

        `attached` reads the files, and adds them to the message's steering.
        """
        draft = self._outgoing.draft
        if not draft.strip():
            raise EmptyDraft("There is nothing to send.", "Type a message first.")
        once = attached()
        with self._writing():
            self._turn = once.again or self._memory.add_user_turn(
                draft, once.after, once.form, once.files
            )
            self._behind = self._turn
            self._outgoing.on_stored()
        remove_taken(once.files)
        return self._turn

    def store_window(
        self,
        turn: Turn,
        built: events.WindowBuilt,
        forecast: float | None,
        check: Callable[[], str],
    ) -> events.WindowBuilt:
        """Store a window that is about to be sent, and reserve the forecast of its cost.

        `check` is called in the transaction, and returns the warning to report.

        Raises:
            SpendingLimitReached: `check` raises it; the window is not stored.

        """
        if built.window.step:
            self._memory.refresh()

        def identity(position: int | None) -> int | None:
            found = self._memory.turn_at(position) if position else None
            return None if found is None else found.id

        segments = [
            segment_fields(segment) | {"turn_id": identity(segment.turn)}
            for segment in built.window.segments
        ]
        ledger = [ledger_fields(row) for row in built.window.ledger]
        header, now = header_fields(built.window), self._memory.store.now()
        record = WindowRecord(built.digest, header, segments, ledger, now, forecast)
        database = self._memory.store.database
        with self._writing():
            self._withdraw()
            with database.write():
                built = replace(built, warning=check())
                least = self._ending(taken(None, Usage(built.window.used, 0), self._outgoing.cost))
                window_id = self._memory.archive.put(turn.id, record, least)
                self.account.add(database, RequestLog(database).id_of(window_id))
            self._window_id, self.window = window_id, built.window
        return built

    def take(self, piece: provider.Piece) -> events.Event | None:
        """Record a piece of the stream. Return the event to report, if any."""
        self._waits = waits_for_retry(piece, before=self._waits)
        match piece:
            case Usage():
                self.usage = usage = with_known_output(piece, has_output=self.has_begun)
                return events.UsageReported(usage, self._outgoing.cost(usage))
            case provider.SentRequest():
                self._request = piece
            case provider.Finished():
                self._finished = self._finished or piece
            case ToolCall():
                return self._call(piece)
            case Echo():
                self._echo = piece
                self._keep_use(self.calls)
            case events.RetryScheduled() | events.RequestAdapted():
                return piece
            case _:
                return self._grow(piece)
        return None

    def _grow(
        self, piece: provider.ReplyDelta | provider.ReasoningDelta | provider.ReasoningFound
    ) -> events.Event | None:
        if isinstance(piece, provider.ReasoningFound):
            if self._writer is None:
                return None
            self._writer.all_was_reasoning()
            return piece
        is_text = isinstance(piece, provider.ReplyDelta)
        if is_text:
            piece = provider.ReplyDelta(self._blank + piece.text)
            is_blank = self._writer is None and not skeleton(piece.text).strip()
            self._blank = piece.text if is_blank else ""
            if is_blank:
                return None
        if not piece.text:
            return None
        writer = self._begun()
        self.is_due = (writer.add if is_text else writer.add_reasoning)(piece.text)
        return piece

    def _begun(self) -> ReplyWriter:
        if self._writer is None:
            beside = self._outgoing.once.again is not None
            self._writer = self._memory.begin_reply(self._behind, self._turn, beside=beside)
        return self._writer

    def _call(self, call: ToolCall) -> events.Event | None:
        """Record a call; if no tools were offered, it becomes part of the text."""
        if self.window is None or not self.window.tools:
            said = f"\n\n[tool call: {call.name} {call.arguments}]\n"
            return self._grow(provider.ReplyDelta(said))
        self._begun()
        self._keep_use((*self.calls, call))
        return None

    def _keep_use(self, calls: tuple[ToolCall, ...]) -> None:
        if calls and self._writer is not None:
            self.is_due = self._writer.set_use(ToolUse(calls, self._echo))

    def close_step(self) -> Turn:
        """Store an answer that calls tools; the next answer is another step of the same turn."""
        with self._writing():
            if self._writer is None:
                raise RuntimeError("nothing was called")
            is_cut = self._finished is not None and self._finished.is_by_length
            self._status = Status.CUT if is_cut else Status.COMPLETE
            with self._memory.store.database.write():
                self._store_reply(self._writer)
                self._keep_request()
            called = self._behind = self._reply
            if called is None:
                raise RuntimeError("nothing was stored")
            self._open = list(called.use.calls)
            self._writer = self._reply = self._window_id = self._finished = self._echo = None
            self.usage = None
            self._saved, self.is_due, self._status = False, False, Status.CUT
            return called

    def store_results(self, results: Sequence[ToolResult]) -> list[Turn]:
        """Commit the results of calls as soon as they arrive."""
        with self._writing():
            return self._put_results(results)

    def keep_forms(self, forms: Mapping[int, Shortened | None]) -> None:
        """Store the shortened results for later windows, by position; None for the whole text."""
        with self._writing():
            self._memory.keep_forms(forms)

    def _put_results(self, results: Sequence[ToolResult]) -> list[Turn]:
        if self._behind is None or any(result.call not in self._open for result in results):
            raise RuntimeError("a result of no open call")
        turns = self._memory.add_results(results, self._behind)
        self._behind = turns[-1]
        for result in results:
            self._open.remove(result.call)
        return turns

    def save(self) -> None:
        """Save the partial reply. If that fails, the answer continues; `commit` will report it."""
        with self._writing():
            if self._writer is not None:
                try:
                    self._writer.save()
                    self._saved = True
                except StoreError:
                    self._memory.store.unstored.keep(self)
        self.is_due = False

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            if self._is_over:
                raise RuntimeError("the send was over while a thread was on its way")
            yield

    def commit(self, error: BaseException | None) -> None:
        """Write the end of the send: by an error, or normally if it is None.

        Raises:
            StoreError: It cannot be stored, and `outcome` is not consumed because the send was
                stopped.

        """
        with self._lock:
            self._status = self._status_after(error)
            self.error = error if isinstance(error, JitchatError) else None
            try:
                self._write_ending()
                if error is None:
                    self.error = self._lack()
            except StoreError as refused:
                self.error = self.error or refused
                if self._reply is None and not self._saved:
                    with suppress(StoreError):
                        self._mark_unanswered()
                if self._writer is not None:
                    self._memory.store.unstored.keep(self)
                if isinstance(error, _STOPPED):
                    raise
            finally:
                self._is_over = True

    def _status_after(self, error: BaseException | None) -> Status:
        if self._finished is not None:
            return Status.COMPLETE if self._finished.is_whole else Status.CUT
        return Status.CANCELLED if isinstance(error, _STOPPED) else Status.CUT

    def _write_ending(self) -> None:
        if self._writer is None:
            self._mark_unanswered()
            self._close_window()
        else:
            self._store_reply(self._writer)
        self._answer_open_calls()
        self._keep_request()
        if self._turn is not None and self._behind is not self._turn:
            end_answering(self._memory.store, self._turn)  # whose last step may have failed

    def _store_reply(self, writer: ReplyWriter) -> None:
        echo, usage = writer.use.echo, self.usage
        if echo is not None and usage is not None and usage.reasoning_tokens:
            counted = replace(echo, tokens=usage.reasoning_tokens)
            writer.set_use(replace(writer.use, echo=counted))
        self._reply = writer.finish(self._status)
        self._memory.refresh()
        self._close_window()

    def _answer_open_calls(self) -> None:
        """Store a result for each call without one, because the turn has ended."""
        why = _CANCELLED if self._status is Status.CANCELLED else INTERRUPTED
        if self._reply is not None and self._reply.use.calls:
            self._behind, self._open, why = self._reply, list(self._reply.use.calls), NOT_RUN
        if self._open:
            self._put_results([ToolResult(call, why, is_error=True) for call in self._open])
        if self._behind is not self._turn:
            self._memory.refresh()

    def _close_window(self) -> None:
        if self._window_id is None:
            return
        self._memory.archive.close(self._window_id, self._ending(self._taken()))

    def _withdraw(self) -> None:
        """Close a refused window before another one is sent for the same answer."""
        if self._window_id is None:
            return
        with self._memory.store.database.write():
            self._keep_request()
            self._close_window()
        self._window_id = self.usage = self._finished = None

    def _ending(self, took: Taken) -> Ending:
        stop = self._finished.label if self._finished else None
        reply = self._reply.id if self._reply else None
        provider = self._outgoing.provider
        return Ending(reply, took.reported, stop, took.cost, provider, took.counted)

    def _taken(self) -> Taken:
        """Return the usage of the last window's request; nothing if it was refused."""
        writer, window = self._writer, self.window
        was_heard = writer is not None or self.usage is not None or self._finished is not None
        is_sent = self._request is not None and not self._waits
        is_stopped = is_sent and self.error is None
        if window is None or not (was_heard or is_stopped):
            return NOT_BILLED
        wrote = written(writer.reasoning, writer.text, writer.use.calls) if writer else ""
        is_counted = self.usage is not None and self.usage.output_tokens is not None
        answered = 0 if is_counted else self._outgoing.count(wrote)
        return taken(self.usage, Usage(window.used, answered), self._outgoing.cost)

    def _keep_request(self) -> None:
        if self._request is not None and self._window_id is not None:
            fields = provider.request_fields(self._request)
            self._memory.archive.keep_request(self._window_id, fields)
        self._request = None

    def _mark_unanswered(self) -> None:
        """Mark the message as unanswered, unless at least a part of a reply was stored."""
        is_answered = self._outgoing.once.again is not None or self._behind is not self._turn
        if self._turn is not None and not is_answered:
            self._memory.mark_unanswered(self._turn)

    def _lack(self) -> NotAnAnswer | None:
        """Describe what is wrong with a completed answer; None if it has text."""
        if self._writer is not None and skeleton(self._writer.text).strip():
            return None
        if self._writer is not None and self._writer.reasoning.strip() and not self.calls:
            return NotAnAnswer(
                "The model reasoned but gave no answer.",
                "Its reasoning is kept. Regenerate the reply, or allow a longer one.",
            )
        finished = self._finished
        if finished is None or finished.is_whole:
            return NotAnAnswer("The model returned an empty answer.", "Send again.")
        why = shorten(f"{finished.why} ({finished.label})", _SHOWN)
        return NotAnAnswer(f"The model returned an empty answer: {why}.", finished.remedy)

    def outcome(self) -> Iterator[events.Event]:
        if self._reply is not None:
            yield events.TurnStored(self._reply)
        if self.error is not None:
            yield events.SendFailed(self.error, self._outgoing.draft)

    def index(self) -> list[events.Event]:
        """Index the message and its reply in one batch; a longer backlog is indexed later."""
        try:
            indexed = list(self._memory.index.catch_up(batches=1))
            return [events.TurnIndexed(entry) for entries in indexed for entry in entries]
        except JitchatError as error:
            return [] if self.error else [events.SendFailed(error, self._outgoing.draft)]

    # A reply that could not be stored, as kept by `UnstoredReplies`.

    @property
    def conversation(self) -> str:
        return self._memory.conversation.id

    @property
    def unstored(self) -> int | None:
        """The first character of the reply that is not stored; None if all of it is."""
        if not self._is_over or self._writer is None or self._reply is not None:
            return None
        return self._writer.stored

    @property
    def rest(self) -> str:
        """The part of the reply that was received but not stored."""
        writer = self._writer if self._reply is None else None
        return writer.text[writer.stored :] if writer is not None else ""

    def store_again(self) -> Turn | None:
        """Retry storing the reply; None if it is still growing or already stored.

        Raises:
            StoreError: It still cannot be stored.

        """
        with self._lock:
            if self._writer is not None and not self._is_over:
                self._writer.save()
                self._saved = True
            if self.unstored is None or self._writer is None:
                return None
            if self._turn is not None:
                self._memory.store.set_status(self._turn, Status.COMPLETE)
            self._store_reply(self._writer)
            return self._reply


def sent_request_for(memory: Memory, window_id: int) -> provider.SentRequest | None:
    """Load the request in which a window was sent; None if there was none or it was not stored.

    Raises:
        StoreUnreadable: The stored request is damaged.

    """
    fields = memory.archive.request(window_id)
    if fields is None:
        return None
    try:
        request = provider.request_from(fields)
        require(str, request.provider, request.url, request.sha256)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise memory.store.database.damaged() from error
    return request
