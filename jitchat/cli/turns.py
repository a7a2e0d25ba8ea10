"""`jitchat window` and `jitchat send`: the headless twin of the chat, on the same session."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from jitchat.cli.options import Flags, common_options
from jitchat.errors import JitchatError, UnknownConversation
from jitchat.text.safe import visible

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.turn import Mode

_CONVERSATION = click.option(
    "--conversation", metavar="ID", help="Its id or title; the one touched last by default."
)


@click.command("window")
@click.argument("text")
@_CONVERSATION
@click.option("--budget", type=click.IntRange(min=1), help="Tokens the window may have.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@common_options
def window_command(
    flags: Flags, text: str, conversation: str | None, budget: int | None, as_json: bool
) -> None:
    """Show the window that would be sent for TEXT. Sends and stores nothing."""
    from jitchat.cli.report import print_window, window_fields  # noqa: PLC0415

    _require_text(text)
    session, mode = _open(flags, conversation)
    session.index_replies()
    size = session.options.budget.of_size(budget) if budget else None
    window = session.preview(text, mode, size)
    identity = session.memory.conversation.id
    if as_json:
        fields = window_fields(window, identity)
        sys.stdout.write(json.dumps(fields, indent=2, ensure_ascii=not _utf8()) + "\n")
    else:
        print_window(window, identity)


@click.command("send")
@click.argument("text")
@_CONVERSATION
@common_options
def send_command(flags: Flags, text: str, conversation: str | None) -> None:
    """Send TEXT, print the reply as it comes, and store both."""
    import asyncio  # noqa: PLC0415  30 ms, not needed to print help

    _require_text(text)
    session, mode = _open(flags, conversation)
    session.index_replies()
    error = asyncio.run(_send(session, text, mode))
    if error is not None:
        raise error


async def _send(session: Session, text: str, mode: Mode) -> JitchatError | None:
    from jitchat.events import ReplyDelta, SendFailed  # noqa: PLC0415

    error: JitchatError | None = None
    async for event in session.send(text, mode):
        if isinstance(event, ReplyDelta):
            click.echo(visible(event.text), nl=False)
        elif isinstance(event, SendFailed):
            error = event.error
    click.echo()
    await session.provider.aclose()
    return error


def _open(flags: Flags, wanted: str | None) -> tuple[Session, Mode]:
    from jitchat.cli.compose import (  # noqa: PLC0415
        make_counter,
        make_embedder,
        make_session,
        open_store,
    )
    from jitchat.transfer.intake import DEMO_ID, store_demo  # noqa: PLC0415
    from jitchat.turn import Mode  # noqa: PLC0415

    settings, paths = flags.settings(), flags.paths()
    counter = make_counter(settings)
    store = open_store(paths)
    latest = store.latest()
    if latest is None and wanted in (None, DEMO_ID):
        latest = store_demo(store)
    found = store.conversation(wanted) if wanted else latest
    if found is None:
        raise UnknownConversation("There are no conversations.", "Import one, or start a chat.")
    embedder = make_embedder(settings, paths)
    return make_session(settings, store, found, embedder, counter), Mode(settings.chat.mode)


def _require_text(text: str) -> None:
    from jitchat.errors import EmptyDraft  # noqa: PLC0415

    if not text.strip():
        raise EmptyDraft("The text is empty.", "Say something in TEXT.")


def _utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
