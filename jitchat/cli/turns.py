"""`jitchat window` and `jitchat send`: the headless twin of the chat, on the same session."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, contextmanager, suppress
from typing import Any

import click

from jitchat import models
from jitchat.cli import cold_store, options, output, report
from jitchat.errors import EmptyDraft, JitchatError, ReplyCut, StoreFull, StoreReadOnly, UsageError
from jitchat.events import ReplyDelta, SendFailed, TurnStored
from jitchat.memory import Memory
from jitchat.models import ResolvedModel
from jitchat.providers.provider import Finished
from jitchat.session import Session
from jitchat.settings.small_models import require_addresses
from jitchat.text.sanitize import one_line
from jitchat.values import Mode, Status, Turn
from jitchat.window import record, steering
from jitchat.window.window import ContextWindow

UNINDEXED = "the newest turns are not indexed, for nothing can be written to the database."


_text_in_conversation = options.with_options(
    click.argument("text"),
    click.option(
        "--conversation", metavar="ID", help="Its id or title; the one touched last if not given."
    ),
)


@click.command("window", cls=options.SharingCommand)
@_text_in_conversation
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="N", help="Tokens that the window may have."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, with the ledger and the messages."
)
@click.option(
    "--ask-picker", is_flag=True, help="Send the picker's model its request, as `send` would."
)
@click.option(
    "--exact", is_flag=True, help="Have the provider count it, which takes a request of its own."
)
@click.option(
    "--request", "as_request", is_flag=True, help="Print the body of the request, and nothing else."
)
@options.common_options
def window_command(flags: options.Flags, text: str, **wanted: Any) -> None:  # noqa: ANN401  as click calls it
    """Show the window that TEXT would be sent in; send nothing of it.

    A server on this machine is asked how much its model takes, and so is one of whose model
    nothing is known. TEXT is `-` for what comes on standard input.
    """
    draft = read_draft(text)
    with opened_session(flags) as (session, mode, model):
        window = _planned(session, draft, mode, wanted["budget"], ask=wanted["ask_picker"])
        _warn(model.warning(), session.planning.unmet(draft))
        identity, prices = session.memory.conversation.id, session.options.prices
        wire = session.wire(window) if wanted["as_request"] else None
    if wanted["as_request"]:  # the reader is sent nothing: then its messages
        output.say((wire.body if wire is not None else record.messages_body(window)).decode())
        return
    exact = asyncio.run(model.count_exactly(window.messages())) if wanted["exact"] else None
    if wanted["as_json"]:
        found = report.window_fields(window, identity, prices)
        output.say_json(found | ({"exact": exact} if exact else {}))
        return
    report.print_window(window, identity, prices)
    if exact:
        output.say(f"{model.profile.title} counts {exact:,} tokens.")


def _planned(
    session: Session, draft: str, mode: Mode, budget: int | None, *, ask: bool
) -> ContextWindow:
    """Plan the window; with `ask`, as the picker's model has it."""
    once = steering.Once(budget=session.options.budget.of_size(budget) if budget else None)
    if not ask:
        return session.preview(draft, mode, once)
    if session.picker is None:
        raise UsageError(
            "--ask-picker: no small model is configured as the picker.",
            "Set model under [picker] in the configuration.",
        )

    async def asked() -> ContextWindow:
        try:
            return await session.preview_picked(draft, mode, once)
        finally:
            await session.aclose()

    return asyncio.run(asked())


@click.command("send", cls=options.SharingCommand)
@_text_in_conversation
@options.common_options
def send_command(flags: options.Flags, text: str) -> None:
    """Send TEXT, print the reply as it comes, store both.

    TEXT is `-` for what comes on standard input. The exit code is 3 where only a part of the reply
    came, which is kept; why, and what to do, is told on standard error.
    """
    draft = read_draft(text)
    with opened_session(flags) as opened:
        error = asyncio.run(_exchange(*opened, draft))
    if error is not None:
        raise error


def _warn(*sentences: str | None) -> None:
    """Say what may keep a message from being answered or private, or a turn out of its window."""
    for sentence in filter(None, sentences):
        output.warn(sentence)


async def _exchange(
    session: Session, mode: Mode, model: ResolvedModel, draft: str
) -> JitchatError | None:
    """Send and print; whatever ends it, what came is stored and the line is closed.

    What comes back is what went wrong: of a reply that is cut, why, and what to do.
    """
    _warn(models.unencrypted_keys(model.settings), model.warning(), session.planning.unmet(draft))
    error: JitchatError | None = None
    stored: list[Turn] = []
    is_open_line = False
    try:
        async with aclosing(session.send(draft, mode)) as events:
            async for event in events:
                match event:
                    case ReplyDelta(text):
                        output.say(text, newline=False)
                        is_open_line = not text.endswith("\n")
                    case SendFailed():
                        error = event.error
                    case TurnStored(turn):
                        stored.append(turn)
                    case _:
                        pass
    finally:
        if is_open_line:
            output.say("")
        await session.aclose()
    if not stored or stored[-1].status is not Status.CUT:
        return error
    if error is not None:
        return ReplyCut(error.what, error.remedy)
    sent = session.sent_exchange(stored[0], stored[-1])
    return _cut((sent[1].stop if sent is not None and sent[1] else None) or "")


def _cut(stop: str) -> ReplyCut:
    """Make the error for a reply that the provider stopped; `stop` is its reason as it was kept."""
    finished = Finished(stop.partition(":")[0])
    told = f" ({one_line(stop)})" if stop else ""
    on = 'Have it go on: jitchat send "Go on." Or raise max_tokens under [provider].'
    remedy = on if finished.is_by_length else finished.remedy
    return ReplyCut(f"{finished.why[0].upper()}{finished.why[1:]}{told}.", remedy)


@contextmanager
def opened_session(flags: options.Flags) -> Iterator[tuple[Session, Mode, ResolvedModel]]:
    """Open the session on the conversation that is asked for, with everything indexed."""
    paths = flags.paths()
    settings = cold_store.load_settings(flags)
    require_addresses(settings)
    with cold_store.opened_store(paths) as store:
        conversation = cold_store.choose_conversation(store, flags.conversation)
        model = models.resolve_model(settings, store.database)
        embedder = models.make_embedder(settings, paths, output.warn)
        session = model.open_session(Memory(store, conversation, embedder), ask=True)
        _index_missing(session.memory)
        yield session, Mode(settings.chat.mode), model


def _index_missing(memory: Memory) -> None:
    """Index what is not yet; where the disk takes nothing, what is indexed has to do."""
    with suppress(StoreFull, StoreReadOnly):
        if memory.store.database.refusal is None:
            list(memory.index.catch_up())
            return
    if memory.index.is_behind():
        output.warn(UNINDEXED)


def read_draft(text: str) -> str:
    draft = options.text_given(text)
    if text == "-":
        draft = draft.rstrip("\r\n")
    if not draft.strip():
        raise EmptyDraft("The text is empty.", "Say something in TEXT.")
    return draft
