"""Late work: workers whose end is always reported, and widgets that are gone by then."""

from inspect import iscoroutine
from typing import Any

from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.worker import Worker, WorkerState
from textual.worker_manager import WorkerManager


def is_drawn(node: MessagePump) -> bool:
    """Whether a widget is on a screen; `is_mounted` stays true after it was removed."""
    app = node.app
    is_ending = app._exit or not app.screen_stack  # noqa: SLF001  Textual has no other way
    if is_ending or not node.is_attached:
        return False
    nodes = node.ancestors_with_self if isinstance(node, DOMNode) else ()
    return not any(each._pruning for each in nodes)  # noqa: SLF001


class Workers(WorkerManager):
    """Reports the end of workers that were cancelled before their first step, too.

    Such a worker never enters its coroutine, so no `finally` runs there. Whoever waits for the end
    of a worker listens for `Worker.StateChanged`.
    """

    def _remove_worker(self, worker: Worker[Any]) -> None:
        """Called when the task of a worker is done."""
        super()._remove_worker(worker)
        if not worker.is_finished:  # otherwise Textual leaves it running for ever
            worker.state = WorkerState.CANCELLED
        if iscoroutine(worker._work):  # noqa: SLF001  otherwise it is reported as never awaited
            worker._work.close()  # noqa: SLF001
