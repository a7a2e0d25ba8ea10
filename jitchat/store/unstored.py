"""Replies that the store refused: each is kept here, and retried until it is stored."""

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from jitchat.errors import StoreError
from jitchat.text.figures import plural
from jitchat.values import Turn


class Unstored(Protocol):
    """A reply that is not completely stored."""

    @property
    def conversation(self) -> str:
        """The conversation's id."""

    @property
    def rest(self) -> str:
        """The text that is not stored."""

    def store_again(self) -> Turn | None:
        """Store the rest; None if the reply is still growing, or was stored before.

        Raises:
            StoreError: The rest could not be stored.

        """


class UnstoredReplies:
    """The unstored replies of all conversations, the oldest first. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._replies: list[Unstored] = []
        self.on_kept: Callable[[], object] = lambda: None
        """Called, in any thread, when a reply is added."""
        self.on_stored: Callable[[str, Turn], object] = lambda _conversation, _turn: None
        """Called, in any thread, when a reply is completely stored."""

    def __bool__(self) -> bool:
        return bool(self._replies)

    @property
    def rests(self) -> list[str]:
        """The text of each reply that would be lost if the process ended now."""
        with self._lock:
            replies = list(self._replies)
        return [rest for reply in replies if (rest := reply.rest)]

    def keep(self, reply: Unstored) -> None:
        with self._lock:
            if reply in self._replies:
                return
            self._replies.append(reply)
        self.on_kept()

    def store_again(self) -> None:
        """Retry every reply; those that fail stay, and the first StoreError is raised."""
        refusal: StoreError | None = None
        with self._lock:
            replies = list(self._replies)
        for reply in replies:
            try:
                turn = reply.store_again()
            except StoreError as error:
                refusal = refusal or error
                continue
            with self._lock:
                if reply in self._replies:
                    self._replies.remove(reply)
            if turn is not None:
                self.on_stored(reply.conversation, turn)
        if refusal is not None:
            raise refusal


def amount_of(rests: Sequence[str]) -> str:
    """`1,234 characters of a reply`."""
    count, letters = len(rests), sum(map(len, rests))
    return f"{plural(letters, 'character')} of {'a reply' if count == 1 else f'{count} replies'}"
