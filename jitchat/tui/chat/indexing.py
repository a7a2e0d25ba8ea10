"""What goes on behind a conversation: turns are indexed, and index lines are written by a model."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.worker import Worker, get_current_worker

from jitchat.errors import JitchatError
from jitchat.tui import garbage
from jitchat.tui.chat.host import Host
from jitchat.tui.chat.messages import BacklogEnded, BacklogMoved, LinesMoved
from jitchat.tui.chat.opening import Opening
from jitchat.tui.chat.surfaces import Surfaces

if TYPE_CHECKING:
    from jitchat.index.embedder import Embedder
    from jitchat.index.indexer import Progress
    from jitchat.session import Session
    from jitchat.small_models.summariser import Summariser
    from jitchat.tui.backend import Backend


@dataclass(eq=False)
class Indexing:
    """Catches up with the turns that lack an index entry, a vector or an index line."""

    host: Host
    backend: Backend
    surfaces: Surfaces
    opening: Opening

    indexed: bool = False
    """Whether every turn has its place in the hot index."""
    progress: Progress | None = None
    """How far that is, while turns are being indexed."""
    _settled: bool = False
    _lines: Worker[None] | None = None

    def show_status(self) -> None:
        if self.opening.session is not None:
            self.surfaces.show_status(self.opening.session, self.progress)

    def catch_up(self, embedder: Embedder | None = None) -> None:
        """Index what is missing, in place of an indexing that is under way.

        With another `embedder`, every turn gets its vector.
        """
        session, number = self.opening.session, self.opening.number
        if session is not None:
            work = partial(self._catch_up, session, embedder, number)
            self.host.in_thread(work, "backlog", exclusive=True)

    def stop(self) -> None:
        """Index nothing more of a conversation that is left."""
        self.host.cancel("backlog", "embedder", "lines")
        self.indexed = self._settled = False
        self.progress = None
        garbage.unfreeze()

    def stop_writing_lines(self) -> None:
        """End the requests to a model that is about to be closed."""
        self.host.cancel("lines")

    def take_progress(self, progress: Progress) -> None:
        self.indexed, self.progress = False, progress
        self.show_status()

    def end(self, error: JitchatError | None) -> None:
        """Nothing more is indexed for now; an error says why the rest has to wait."""
        self.indexed, self.progress = True, None
        self.settle()
        self.show_status()
        if error is not None:
            self.host.tell(error)

    def settle(self) -> None:
        """Have the garbage collector skip all that is loaded by now."""
        if not self._settled:
            self._settled = True
            garbage.freeze()

    def change_embedder(self) -> None:
        """Use an embedding model that was fetched as soon as every turn has its vector."""
        number = self.opening.number

        def change() -> None:
            try:
                embedder = self.backend.better_embedder()
            except JitchatError as error:
                self.host.post(BacklogEnded(number, 0, error))
                return
            if embedder is not None and number == self.opening.number:
                self.host.from_thread(self.catch_up, embedder)

        self.host.in_thread(change, "embedder")

    def write_missing_lines(self) -> None:
        """Have the summariser's model write the index lines that are missing, if there is one."""
        session = self.opening.session
        summariser = session.summariser if session is not None else None
        is_writing = self._lines is not None and not self._lines.is_finished
        if summariser is not None and not summariser.stopped and not is_writing:
            work = self._write_lines(summariser, self.opening.number)
            self._lines = self.host.run(work, "lines")

    def show_lines(self, message: LinesMoved) -> bool:
        """Say how many index lines are missing; whether they are all there now."""
        session = self.opening.session
        if session is None or session.summariser is None:
            return False
        if message.written is None:
            self.show_status()
        elif message.written.left and self.progress is None:
            written, name = message.written, session.summariser.name
            state = (
                f"{name} writes index lines… {written.left:,} to go"
                f" · {written.input_tokens:,} + {written.output_tokens:,} tokens"
            )
            self.surfaces.show_state(state, session)
        if message.error is not None:
            self.host.tell(message.error)
        return message.written is None

    def _catch_up(self, session: Session, embedder: Embedder | None, number: int) -> None:
        """Index in a thread, unless a later call takes over: then only that one reports."""
        worker = get_current_worker()

        def report(progress: Progress) -> None:
            if not worker.is_cancelled:
                self.host.post(BacklogMoved(number, progress))

        indexed = 0
        error: JitchatError | None = None
        try:
            for entries in session.memory.index.catch_up(embedder, on_progress=report):
                if worker.is_cancelled:
                    return
                indexed += len(entries)
            error = session.memory.index.failure
        except JitchatError as refusal:
            error = refusal
        if not worker.is_cancelled:
            self.host.post(BacklogEnded(number, indexed, error))

    async def _write_lines(self, summariser: Summariser, number: int) -> None:
        error: JitchatError | None = None
        try:
            async with aclosing(summariser.write()) as requests:
                async for written in requests:
                    self.host.post(LinesMoved(number, written))
        except JitchatError as failure:
            error = failure
        self.host.post(LinesMoved(number, None, error))
