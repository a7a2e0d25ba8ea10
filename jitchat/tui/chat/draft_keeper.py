"""The draft of the conversation on screen, kept while it is typed, so that it survives any end.

A message that was sent is kept as well until its reply begins: it is back in the prompt if the app
dies before. Where the app ends in order, it is kept only if it is not a turn. A text that holds a
known key is not kept.
"""

import threading
from collections.abc import Callable

from textual.timer import Timer

from jitchat.crash import holds_secret
from jitchat.errors import StoreError
from jitchat.store.pins import Drafts
from jitchat.tui.chat.host import Host

KEEP_AFTER = 0.5
"""Seconds of silence after a key until the draft is written."""


class DraftKeeper:
    """`typed` reads what is in the prompt, and `secrets` the keys that are in use."""

    def __init__(
        self,
        host: Host,
        drafts: Drafts,
        typed: Callable[[], str],
        secrets: Callable[[], list[str]],
    ) -> None:
        self._host = host
        self._drafts, self._typed, self._secrets = drafts, typed, secrets
        self._timer: Timer | None = None
        self._lock = threading.Lock()
        self._conversation: str | None = None
        self._stored = self._wanted = self._under_way = self._returned = ""
        self._is_turn = False
        """Whether what is under way is stored in the conversation."""

    def open(self, conversation: str) -> str:
        """Look up the draft that was left in a conversation, and keep that from now on."""
        with self._lock:
            self._conversation = conversation
            self._under_way = ""
            try:
                self._stored = self._drafts.get(conversation)
            except StoreError:  # told by what needs the store
                self._stored = ""
            self._wanted = self._returned = self._stored
            return self._stored

    def is_back(self) -> bool:
        """Whether the prompt holds the draft of last time, and nothing else was typed."""
        return bool(self._returned) and self._typed() == self._returned

    def send(self, text: str) -> None:
        """Keep a message that leaves the prompt until its reply begins."""
        self._under_way, self._is_turn = text, False

    def mark_stored(self) -> None:
        """The message is a turn, and waits for its reply; from any thread."""
        self._is_turn = True

    def let_go(self) -> None:
        """Keep a message no longer that is a turn with a reply, or back in the prompt."""
        self._under_way = ""

    def keep_soon(self) -> None:
        """Write the draft once the keys rest, in a thread."""
        self._stop_timer()
        self._timer = self._host.after(KEEP_AFTER, self.keep_behind)

    def keep_behind(self) -> None:
        self._note(leaving=False)
        self._host.in_thread(self._flush, "draft")

    def keep_now(self, *, leaving: bool = False) -> None:
        """Write the draft before anything else happens.

        Once the conversation is left, and no send is under way, a turn is found where it stands.
        """
        self._stop_timer()
        self._note(leaving=leaving)
        self._flush()

    def _note(self, *, leaving: bool) -> None:
        under_way = "" if leaving and self._is_turn else self._under_way
        self._wanted = "\n".join(filter(str.strip, (under_way, self._typed())))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()

    def _flush(self) -> None:
        """Write what was noted, if it is another text than before; from any thread."""
        with self._lock:
            wanted = self._wanted
            if self._conversation is None or wanted == self._stored:
                return
            text = "" if holds_secret(wanted, self._secrets()) else wanted
            try:
                self._drafts.put(self._conversation, text)
            except StoreError:  # the next text is tried again; a send tells of it
                return
            self._stored = wanted
