"""Everything that can go wrong and that a user is told about.

Every error carries one sentence on what happened and one on what to do.
"""


class JitchatError(Exception):
    """The root: `what` happened, and `remedy`, what the user can do about it."""

    exit_code = 1

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}".strip()


class UsageError(JitchatError):
    """The command or its configuration cannot be carried out as given."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown, has the wrong type or an impossible value."""


class UnknownConversation(UsageError):
    """No conversation has that id or title."""


class UnknownTurn(JitchatError):
    """No turn of the conversation has that #id, or none of which what was asked can be told."""


class SpendingLimitReached(JitchatError):
    """A request would cost more than the limits that the user set leave."""


class StoreError(JitchatError):
    """The cold store cannot be used as asked."""


class StoreUnreadable(StoreError):
    """The file is not a database, or is damaged."""


class StoreTooNew(StoreError):
    """The database has a schema that this version does not know."""


class StoreTooOld(StoreError):
    """The database has a schema of before, and cannot be written to bring it up to date."""


class StoreReadOnly(StoreError):
    """The database or its folder cannot be written."""


class StoreFull(StoreError):
    """There is no space left to write to."""


class StoreBusy(StoreError):
    """Another program holds the database for longer than we wait."""


class ConversationInUse(StoreError):
    """A conversation cannot be deleted while another process writes a reply in it."""


class ErasureIncomplete(StoreError):
    """A conversation is deleted, but what the file held of it before may be in its free pages."""

    def __init__(self, why: StoreError) -> None:
        super().__init__(
            "The conversation is deleted, but the database could not be written anew, so that its"
            f" free pages may hold words of it. {why.what}",
            "That takes room for the whole database twice, for a moment;"
            " `jitchat conversations vacuum` tries it again.",
        )


class ConversationDeleted(StoreError):
    """Nothing can be said in a conversation that was deleted meanwhile."""

    def __init__(self) -> None:
        super().__init__(
            "This conversation was deleted meanwhile; nothing was stored.",
            "Begin another one: Ctrl+N, or --new.",
        )


class StaleObservations(StoreError):
    """A pass does not go on from what is observed by now: nothing of it is stored."""

    def __init__(self) -> None:
        super().__init__(
            "The observations changed while a pass was under way; it was not stored.",
            "Its turns are observed by the next one.",
        )


class StaleDocument(StoreError):
    """A document does not follow the version that holds by now: nothing of it is stored."""

    def __init__(self) -> None:
        super().__init__(
            "The memory document was changed meanwhile; this version was not stored.",
            "Its turns are still this session: its next end writes them.",
        )


class UnknownVersion(UsageError):
    """A memory document has no such version, or no such line."""


class ImportFailed(JitchatError):
    """A file could not be imported; nothing of it was stored."""


class BenchFailed(JitchatError):
    """What was to be measured cannot be."""


class UnknownRun(UsageError):
    """There is no such run of the rot lab."""


class EmbedderUnavailable(JitchatError):
    """The embedder that was asked for by name cannot be loaded."""


class RerankerUnavailable(JitchatError):
    """The reranker cannot be loaded, or fails, said as a clause; the ranking stands."""


class SummariserStopped(JitchatError):
    """The small model that writes index lines does not; the lines stay as they were."""


class FileRefused(UsageError):
    """A file cannot be attached: it is not there, too large, or of no kind that is read."""


class EmptyDraft(UsageError):
    """There is nothing to send."""


class WindowOverflow(JitchatError):
    """What must be in the window does not fit the budget.

    `overshoot` is the number of tokens by which it does not.
    """

    def __init__(self, what: str, remedy: str, overshoot: int) -> None:
        super().__init__(what, remedy)
        self.overshoot = overshoot


class ReplyCut(JitchatError):
    """A part of the reply came, and is kept."""

    exit_code = 3


class ProviderError(JitchatError):
    """The provider did not give an answer."""

    retry_after: float | None = None
    """Seconds that it asks to be left alone, where that is too long to be waited for."""


class Unreachable(ProviderError):
    """No connection, or none in time."""


class KeyRefused(ProviderError):
    """The key is missing, malformed or not accepted."""


class RequestRefused(ProviderError):
    """The provider answered with an error of its own."""


class ContextOverflow(ProviderError):
    """The window is larger than the model's context.

    In tokens, as the provider counts, and None where it does not tell: `needed` is what the window
    takes, `answer` what was to be kept free for the answer, `limit` what there is for both. Where
    the provider does not tell the two apart, `needed` is their sum.
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
    """The answer ended before it was finished."""
