"""The title of a conversation that has none: what its first message is about.

A built-in rule makes one at once. If a small model is set, it makes a better one from the first
exchange, in the background. A title that the user or the import gave is never changed.
"""

import asyncio
from contextlib import suppress
from dataclasses import replace

from jitchat.draft import GO_ON
from jitchat.errors import JitchatError
from jitchat.index.entry import summarised
from jitchat.memory import Memory
from jitchat.small_models.replies import parse_value
from jitchat.small_models.small_model import SmallModel, request_of
from jitchat.small_models.summariser import quoted_turns
from jitchat.store.requests import Purpose
from jitchat.store.store import NEW_TITLE, ColdStore
from jitchat.text.entities import entities
from jitchat.text.expressions import expressions
from jitchat.text.sanitize import both_ends, shorten
from jitchat.values import Conversation, Role

WIDTH = 60
_AROUND = " \"'“”«».,;:?!。？！"
_REACH = 20_000
_EXCHANGE = 4
"""Turns at the beginning that are shown to a model."""


def title_of(text: str) -> str:
    """Return what a first message is about; empty if it has no content, such as a greeting."""
    text = both_ends(text, _REACH, "\n\n").lstrip()
    lead_in = expressions("titles")["lead_in"].match(text)
    content = text[lead_in.end() :] if lead_in is not None else text
    title = summarised(content, entities(content), decides=False, width=WIDTH).strip(_AROUND)
    if not any(map(str.isalnum, title)):
        return ""
    return title[0].upper() + title[1:]


def name_new(store: ColdStore, conversation: Conversation, text: str) -> None:
    """Give a conversation without a title one from its first message."""
    if conversation.title == NEW_TITLE and text != GO_ON and (title := title_of(text)):
        store.suggest_title(conversation.id, title)


async def improve(memory: Memory, model: SmallModel) -> bool:
    """Have a model make a title from the first exchange, unless one was given.

    Return whether it did. Failures are not reported, because the existing title is good enough.
    """
    store, conversation = memory.store, memory.conversation.id
    turns = memory.turns[:_EXCHANGE]
    is_first = sum(turn.role is Role.USER for turn in memory.turns[: _EXCHANGE + 1]) == 1
    if not is_first or not await asyncio.to_thread(store.lacks_title, conversation):
        return False
    request = request_of("title", turns=quoted_turns(turns))
    model = replace(model, purpose=Purpose.TITLE)
    with suppress(JitchatError):
        titles = parse_value((await model.ask(request)).whole(), "titles", list)
        title = shorten(str(titles[0]), WIDTH).strip(_AROUND) if titles else ""
        if any(map(str.isalnum, title)):
            await asyncio.to_thread(store.suggest_title, conversation, title)
            return True
    return False
