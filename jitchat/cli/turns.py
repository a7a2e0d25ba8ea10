"""`jitchat window`, `send` and `why`: the chat without a screen, on the same session."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from jitchat import errors, models
from jitchat.cli import cold_store, exchange, options, output, windows
from jitchat.draft import Draft
from jitchat.files.named import attach, left_out, mentions_of, require_named
from jitchat.memory import Memory
from jitchat.paths import current_folder
from jitchat.replay import sent_on_path
from jitchat.session import Session
from jitchat.settings import personas
from jitchat.settings.served_tools import served_tools
from jitchat.settings.small_models import require_addresses
from jitchat.small_models.summariser import name_new
from jitchat.store.path import parent_of
from jitchat.store.pins import OwnInstructions, PickedMode
from jitchat.text.sanitize import one_line, shorten
from jitchat.values import Mode, Role
from jitchat.why import Explained, Standing, why, why_other
from jitchat.window import record, steering
from jitchat.window.window import ContextWindow, Kind

UNINDEXED = "the newest turns are not indexed, because the database cannot be written."


@click.command("window", cls=options.SharingCommand)
@click.argument("text")
@options.in_conversation
@options.attaching
@options.flag("--json", "Print JSON, with the ledger and the messages.", name="as_json")
@options.flag("--ask-picker", "Ask the picker's model and run the reranker, as `send` does.")
@options.flag("--exact", "Have the provider count the tokens, with a separate request.")
@options.flag("--request", "Print only the body of the request.", name="as_request")
@options.common_options
def window_command(flags: options.Flags, text: str, **wanted: Any) -> None:  # noqa: ANN401  as click calls it
    """Show the window that would be sent for TEXT, without sending it.

    A server on this machine, or one whose model is not known, is asked for the model's context
    size. Use - to read TEXT from standard input.
    """
    draft = read_draft(text)
    sends = wanted["exact"] or wanted["ask_picker"]
    with opened_session(flags, sends=sends) as (session, mode, model):
        _warn(model.warning())
        once = _once_of(session, draft, wanted["attached"])
        window = _planned(session, draft.text, mode, once, ask=wanted["ask_picker"])
        identity, compared = session.memory.conversation.id, session.comparison(window)
        wire = session.wire(window) if wanted["as_request"] else None
    if wanted["as_request"]:  # the built-in reader has no request, so print its messages
        output.say((wire.body if wire is not None else record.messages_body(window)).decode())
        return
    exact = None
    if wanted["exact"]:
        exact = asyncio.run(model.count_exactly(window.messages(), window.tools))
    if wanted["as_json"]:
        found = windows.window_fields(window, identity, compared)
        output.say_json(found | ({"exact": exact} if exact else {}))
        return
    windows.print_window(window, identity, compared)
    if exact:
        output.say(f"{model.profile.title} counts {exact:,} tokens.")


def _once_of(session: Session, draft: Draft, attached: Sequence[str]) -> steering.Once:
    """Attach files; warn of what is named in vain, left out of the files, or has changed."""
    current = current_folder()
    named = [require_named(path, current) for path in dict.fromkeys(attached)]
    files = attach(named, current)
    once = steering.Once(files=files, mentions=mentions_of(draft))
    once = session.find_named(once)
    _warn(
        session.planning.unmet(draft.text),
        left_out(named, current),
        session.left_out(once),
        session.planning.changed_files(once),
    )
    return once


def _planned(
    session: Session, draft: str, mode: Mode, once: steering.Once, *, ask: bool
) -> ContextWindow:
    """Plan the window; with `ask`, use the reranker and the picker's model."""
    if not ask:
        return session.preview(draft, mode, once)
    if session.picker is None and session.options.reranker is None:
        raise errors.UsageError(
            "--ask-picker: neither a picker model nor a reranker is configured.",
            "Set model under [picker] or [reranker] in the configuration.",
        )

    async def asked() -> ContextWindow:
        try:
            return await session.preview_picked(draft, mode, once)
        finally:
            await session.aclose()

    return asyncio.run(asked())


@click.command("send", cls=options.SharingCommand)
@click.argument("text", required=False)
@options.in_conversation
@options.as_new
@options.as_temporary
@options.attaching
@options.common_options
def send_command(
    flags: options.Flags, text: str | None, how: exchange.HowToSend, attached: Sequence[str]
) -> None:
    """Send TEXT, print the reply as it arrives, and store both.

    @path in TEXT attaches a file; of hidden files and files outside the current folder, only
    --attach does. Piped input is appended to TEXT, or is the message if there is no TEXT; it
    attaches nothing. Standard error names what is attached and, if you named no conversation, the
    one that was used.

    Exit codes: 0, the reply is complete; 1, there is no reply; 2, the command is wrong; 3, the
    reply is incomplete (it is stored); 130, interrupted by Ctrl+C.
    """
    draft = _require_text(options.text_and_piped(text))
    with opened_session(flags, sends=True) as (session, mode, model):
        memory = session.memory
        cold_store.keep_persona(memory.store, memory.conversation.id, flags)
        folder = flags.paths().servers if how.tools else None
        sent = exchange.Sent(
            draft.text,
            mode,
            how,
            names_conversation=flags.conversation is not None or flags.temporary,
            once=_once_of(session, draft, attached),
        )
        error = asyncio.run(_exchange(session, model, sent, folder))
        with suppress(errors.StoreError):  # a title can wait
            name_new(memory.store, memory.conversation, sent.draft)
    if error is not None:
        raise error


def _warn(*sentences: str | None) -> None:
    """Warn about anything that may prevent an answer, expose a key or leave a turn out."""
    for sentence in filter(None, sentences):
        output.warn(sentence)


async def _exchange(
    session: Session, model: models.ResolvedModel, sent: exchange.Sent, folder: Path | None
) -> errors.JitchatError | None:
    """Send and print. With `folder`, offer the servers' tools and keep their error logs there."""
    _warn(models.unencrypted_keys(model.settings), model.warning())
    if folder is None:
        return await exchange.sent_and_printed(session, sent)
    async with served_tools(session, model.settings, folder) as states:
        _warn(*(state.sentence for state in states))
        return await exchange.sent_and_printed(session, sent)


@contextmanager
def opened_session(
    flags: options.Flags, *, sends: bool = False
) -> Iterator[tuple[Session, Mode, models.ResolvedModel]]:
    """Open a session on the conversation that the flags choose, with all its turns indexed.

    If the command `sends` its turns to a provider, the demo has to be named.
    """
    paths = flags.paths()
    plain = cold_store.plain_settings(flags)
    require_addresses(plain)
    with (
        cold_store.opened_store(paths) as store,
        cold_store.chosen_conversation(store, flags, sends=sends) as conversation,
    ):
        own = OwnInstructions(store.database).get(conversation.id)
        settings = personas.settings_for(plain, own)
        _warn(personas.missing(plain, own))
        model = models.resolve_model(settings, store.database)
        embedder = models.make_embedder(settings, paths, output.warn)
        memory = Memory(store, conversation, embedder)
        session = model.open_session(memory, ask=True)
        session.folder = current_folder()
        _index_missing(session.memory)
        picked = PickedMode(store.database).get(conversation.id)
        yield session, settings.mode_in(*picked), model


def _index_missing(memory: Memory) -> None:
    """Index what is not indexed yet; warn if the database cannot be written."""
    with suppress(errors.StoreFull, errors.StoreReadOnly):
        if memory.store.database.refusal is None:
            list(memory.index.catch_up())
            memory.file_parts.index_missing(memory.files)
            if memory.others is not None:
                memory.others.index_missing()
            return
    if memory.index.is_behind():
        output.warn(UNINDEXED)


def read_draft(text: str) -> Draft:
    if text != "-":
        return _require_text(Draft.by_user(text))
    return _require_text(Draft.foreign(options.text_given(text)))


def _require_text(draft: Draft) -> Draft:
    if not draft.text.strip():
        raise errors.EmptyDraft("TEXT is empty.", "Give a message.")
    options.require_text(draft.text, "TEXT")
    return draft


_QUOTED = 60
"""Maximum characters of the message in the output."""


@click.command("why", cls=options.SharingCommand)
@click.argument("turn", metavar="ID", type=options.turn_name)
@click.argument("text", required=False)
@options.flag(
    "--turn N",
    "Explain the window that was sent for turn N.",
    name="said",
    type=options.turn_number,
)
@options.in_conversation
@options.common_options
def why_command(
    flags: options.Flags, turn: int | str, text: str | None, said: int | None, as_json: bool
) -> None:
    """Explain why turn ID is or is not in the window for TEXT.

    ID is a turn number such as 12, a turn of another conversation such as chat-3#12, a file such
    as notes.md, a fact such as 'fact 7', or a tool.

    Without TEXT, the last message is explained, with its window as it would be now; with --turn,
    a window as it was sent. Use - to read TEXT from standard input.
    """
    if text is not None and said is not None:
        raise errors.UsageError("TEXT and --turn cannot be combined.", "Give one of them.")
    draft = read_draft(text) if text is not None else None
    with opened_session(flags) as (session, mode, _):
        if said is not None:
            explained = _explained_sent(session, said)
        else:
            explained = _explained_draft(session, draft, mode)
        found = _why_fields(session, explained, turn)
    output.tell(found, "\n".join((_heading(explained), *found["sentences"])), as_json=as_json)


def _heading(explained: Explained) -> str:
    mode, quoted = explained.window.mode, f"“{shorten(explained.draft, _QUOTED)}”"
    if (system := explained.window.name_of(Kind.SYSTEM)) != Kind.SYSTEM:
        quoted += f" ({one_line(system)})"
    if explained.said is not None:
        return f"The window that was sent in {mode} for #{explained.said.position}, {quoted}:"
    return f"The window that would be sent in {mode} for {quoted}:"


def _explained_draft(session: Session, draft: Draft | None, mode: Mode) -> Explained:
    """Plan the window for a draft; without one, for the last message."""
    if draft is not None:
        return session.explained(draft.text, mode, steering.Once(mentions=mentions_of(draft)))
    turns = reversed(session.memory.turns)
    last = next((turn for turn in turns if turn.role is Role.USER), None)
    if last is None:
        raise errors.UnknownTurn("The conversation has no messages yet.", "Give TEXT.")
    return session.explained(last.content, mode, steering.Once(again=last))


def _explained_sent(session: Session, position: int) -> Explained:
    """Load the window that was sent for a message, given its position or its reply's."""
    store, conversation = session.memory.store, session.memory.conversation.id
    chosen = step = store.turn(conversation, position)
    while step is not None and step.use.answers is not None:  # past tool results
        step = store.turn(conversation, parent_of(step))
    said = None
    if step is not None:
        question = step.question or store.last_message(conversation, step.position)
        said = store.turn(conversation, question)
    sent = sent_on_path(session.memory, said, chosen) if said is not None else None
    if said is None or sent is None:
        raise errors.UnknownTurn(
            f"--turn: no window was sent for #{position}.", "Name a message sent from jitchat."
        )
    return Explained(sent[0], said.content, said)


def _why_fields(session: Session, explained: Explained, turn: int | str) -> Mapping[str, Any]:
    fields = {
        "conversation": session.memory.conversation.id,
        **output.json_fields(explained, "mode=window.mode sent_for=said.position text=draft"),
        "turn": turn,
    }
    if isinstance(turn, str):
        return {**fields, "sentences": why_other(explained.window, turn)}
    answer = why(session.memory, explained, turn)
    if answer.standing is Standing.UNKNOWN:
        raise errors.UnknownTurn(str(answer))
    placed = None
    if answer.placed is not None:
        candidate = answer.placed.candidate
        placed = output.json_fields(candidate, "rank score matched")
        placed |= {"of": answer.placed.of, "parts": dict(candidate.parts)}
    return {
        **fields,
        **output.json_fields(answer, "standing sentences"),
        "row": record.ledger_fields(answer.row) if answer.row is not None else None,
        "placed": placed,
    }
