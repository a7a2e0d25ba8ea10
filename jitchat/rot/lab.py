"""THE LAB: plant facts, grow the conversation, ask in each mode through the ordinary flow."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from jitchat.memory.embedding.embedder import Embedder
from jitchat.memory.memory import Memory
from jitchat.rot.events import LabEvent
from jitchat.rot.judge import Judge
from jitchat.rot.run_file import RunFile
from jitchat.session import Session
from jitchat.turn import Turn


class Lab:
    """A run that is asked. Lives in one event loop."""

    def __init__(  # noqa: PLR0913  all that it is made of
        self,
        file: RunFile,
        open_session: Callable[[Memory], Session],
        embedder: Embedder,
        *,
        judge: Judge | None = None,
        parallel: int = 1,
        own: Sequence[Turn] = (),
    ) -> None:
        """`own` are the turns of the user's conversation, where that is the filler."""
        self.file = file

    async def run(self) -> AsyncGenerator[LabEvent, None]:
        """Ask every cell that has no result; closing the generator stops, and keeps what came.

        A cell whose request fails is asked once more, and then marked; after `GIVE_UP` failures
        in a row the run is given up, and can be resumed.

        Raises:
            StoreError: Results cannot be kept.

        """
        raise NotImplementedError
        yield
