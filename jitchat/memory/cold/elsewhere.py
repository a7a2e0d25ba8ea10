"""A cold store in which one conversation is looked at from another turn than its head.

So what led to a turn of another branch can be read, and planned with, without going there.
"""

from __future__ import annotations

from dataclasses import replace

from jitchat.memory.cold.path import Tree
from jitchat.memory.cold.store import ColdStore


class StoreElsewhere(ColdStore):
    """The same store; nothing is to be appended through it."""

    def __init__(self, store: ColdStore, conversation: str, head: int) -> None:
        """`head` is the position of the turn that the conversation's path leads to here."""
        super().__init__(store.database, store.now)
        self._conversation, self._head = conversation, head

    def tree(self, conversation: str) -> Tree:
        """Read how the turns hang together, with the head here."""
        tree = super().tree(conversation)
        return replace(tree, head=self._head) if conversation == self._conversation else tree
