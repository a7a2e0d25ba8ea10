"""Noting cases and taking them back, the last one again by an undo."""

from jitchat.session import Session
from jitchat.store.regression_cases import Case, Cases


class CaseNotes:
    """The cases of one conversation, as one view changes them. Slow: for a thread."""

    def __init__(self, session: Session) -> None:
        self._conversation = session.memory.conversation.id
        self._cases = Cases(session.memory.store.database)
        self._removed: list[Case] = []

    def all(self) -> list[Case]:
        return self._cases.of(self._conversation)

    def put(self, case: Case) -> Case:
        self._cases.put(case)
        return case

    def remove(self, case: Case) -> Case:
        self._cases.remove(case)
        self._removed.append(case)
        return case

    def undo(self) -> Case | None:
        """Note again what was taken back last; None where nothing was."""
        return self.put(self._removed.pop()) if self._removed else None
