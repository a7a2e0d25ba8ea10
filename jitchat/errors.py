"""The errors that are shown to the user.

Every error has a sentence on what happened and one on what to do.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from jitchat.text.figures import Figure, Mark


class JitchatError(Exception):
    """The base class: `what` happened, and the `remedy`, what the user can do about it."""

    exit_code = 1

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}".strip()


@contextmanager
def reported(kind: type[JitchatError], what: str, remedy: str = "") -> Iterator[None]:
    """Raise an error of the kind in place of an OSError, whose reason follows `what`."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}.", remedy) from None


class UsageError(JitchatError):
    """The command line or the configuration is not valid."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown, or has the wrong type or an invalid value."""


class UnknownConversation(UsageError):
    """No conversation has that id or title."""


class UnknownTurn(JitchatError):
    """No turn of the conversation has that #id, or the request does not apply to that turn."""


class SpendingLimitReached(JitchatError):
    """A request would cost more than is left of the user's limits."""


class StoreError(JitchatError):
    """The cold store cannot be used."""


class StoreUnreadable(StoreError):
    """The file is not a database, or is damaged."""


class StoreTooNew(StoreError):
    """The database has a newer schema than this version supports."""


class StoreTooOld(StoreError):
    """The database has an old schema, and cannot be written to migrate it."""


class StoreForeign(StoreError):
    """The tables of the database are not those that this version needs."""


class StoreReadOnly(StoreError):
    """The database or its folder cannot be written."""


class StoreFull(StoreError):
    """There is no space left on the disk."""


class StoreBusy(StoreError):
    """Another program locks the database for longer than the timeout."""


class ConversationInUse(StoreError):
    """A conversation cannot be deleted while another process writes a reply in it."""


class ErasureIncomplete(StoreError):
    """A conversation is deleted, but parts of it may remain in the file's free pages."""


class ConversationDeleted(StoreError):
    """The conversation was deleted in the meantime."""


class StaleObservations(StoreError):
    """A pass is based on observations that have changed since; its result is not stored."""


class StaleDocument(StoreError):
    """A document is based on a version that has changed since; it is not stored."""


class UnknownVersion(UsageError):
    """A memory document has no such version, or no such line."""


class ImportFailed(JitchatError):
    """A file could not be imported; no part of it was stored."""


class BenchFailed(JitchatError):
    """A benchmark cannot be run."""


class UnknownRun(UsageError):
    """There is no such run of the rot lab."""


class EmbedderUnavailable(JitchatError):
    """An embedder that was chosen by name cannot be loaded."""


class RerankerUnavailable(JitchatError):
    """The reranker cannot be loaded, or failed; `what` is a clause. The ranking is unchanged."""


class SummariserStopped(JitchatError):
    """The small model that writes index lines failed; the lines are unchanged."""


class FileRefused(UsageError):
    """A file cannot be attached: it does not exist, is too large, or has an unsupported type."""

    may_pass = False
    """Whether the same file may be attached later."""


class FolderNotAllowed(FileRefused):
    """A mention names hidden files, or files outside the current folder."""


class EmptyDraft(UsageError):
    """There is nothing to send."""


class WindowOverflow(JitchatError):
    """The required parts of the window exceed the budget, by `overshoot` tokens."""

    def __init__(self, what: str, remedy: str, overshoot: int, mark: Mark = Mark.ESTIMATED) -> None:
        super().__init__(what, remedy)
        self.overshoot = overshoot
        self.over = Figure(overshoot, mark)
        """The overshoot, as it is shown."""


class ReplyCut(JitchatError):
    """Only a part of the reply was received; it is kept."""

    exit_code = 3


class ProviderError(JitchatError):
    """The provider did not answer."""

    retry_after: float | None = None
    """Seconds to wait, if the server asks for a wait that is too long to be done automatically."""


class Unreachable(ProviderError):
    """No connection could be made, or not in time."""


class KeyRefused(ProviderError):
    """The key is missing, malformed or not accepted."""


class RequestRefused(ProviderError):
    """The provider answered with an error."""


class ContextOverflow(ProviderError):
    """The window is larger than the model's context.

    `needed` is the size of the window, `answer` the tokens to keep free for the answer, `limit` the
    model's context, all as counted by the provider, and None if not reported. If the provider does
    not distinguish window and answer, `needed` is their sum.
    """

    def __init__(
        self,
        what: str,
        remedy: str = "",
        needed: int | None = None,
        limit: int | None = None,
        answer: int | None = None,
    ) -> None:
        super().__init__(what, remedy)
        self.needed, self.limit, self.answer = needed, limit, answer


class NotAnAnswer(ProviderError):
    """The server answered, but not in the provider's protocol."""


class StreamCut(ProviderError):
    """The stream ended before the answer was finished."""
