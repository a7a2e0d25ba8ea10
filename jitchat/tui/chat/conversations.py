"""Open, create, move, rename, tag, archive and delete conversations; show what others write to one.

A deletion can be undone until the app closes; until then the conversation is only hidden.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker

from jitchat.errors import JitchatError, StoreError, UnknownConversation
from jitchat.small_models.summariser import improve_title
from jitchat.store import deletion
from jitchat.store.store import NEW_TITLE, TEMPORARY_TITLE, project_name
from jitchat.text.figures import plural
from jitchat.text.sanitize import one_line, shorten
from jitchat.tui.chat.host import Controller
from jitchat.tui.chat.key_routing import KeyRouting, Question
from jitchat.tui.chat.opening import Indexing, Opening
from jitchat.tui.chat.previews import Previews
from jitchat.tui.chat.sends import Sends
from jitchat.values import Instructions

if TYPE_CHECKING:
    from jitchat.session import Session
    from jitchat.statements import Source
    from jitchat.tui.dialogs.choice import ChosenProject
    from jitchat.tui.dialogs.resume import Choice
    from jitchat.values import Conversation

LOOK_EVERY = 1.0
"""Seconds between two looks at the database's version."""
DELETED = "Another jitchat deleted this conversation."


@dataclass(eq=False)
class Changes(Controller):
    @dataclass
    class Found(Message):
        """Another program wrote to the database; the session has read it."""

        opening: int
        version: int
        conversation: Conversation | None
        """The conversation as it is now; None if it was deleted."""

    opening: Opening
    indexing: Indexing
    previews: Previews
    sends: Sends
    conversations: Conversations

    _version: int = 0
    """The database's version that is on screen."""
    _worker: Worker[None] | None = None

    def watch(self) -> None:
        """Look for changes until the app ends."""
        self.host.every(LOOK_EVERY, self._look_in_background)

    def _look_in_background(self) -> None:
        session = self.opening.session
        is_looking = self._worker is not None and not self._worker.is_finished
        if session is not None and not self.sends.busy and not is_looking:
            look = partial(self._look, session, self.opening.number)
            self._worker = self.host.in_thread(look, "changes")

    def _look(self, session: Session, opening: int) -> None:
        store = self.backend.store
        with suppress(StoreError):  # reported by the send
            version = store.database.version()
            if version == self._version or store.unstored:  # which is on the screen alone
                return
            conversation = None
            with suppress(UnknownConversation):
                conversation = store.conversation(session.memory.conversation.id)
                session.memory.refresh()
            self.host.post(self.Found(opening, version, conversation))

    async def take(self, message: Found) -> None:
        """Show what was found; while a reply is in progress, that is left to the next look."""
        session = self.opening.session
        if message.opening != self.opening.number or session is None or self.sends.busy:
            return
        self._version = message.version
        if message.conversation is None:
            await self.conversations.refresh()
            self.host.warn(DELETED)
            return
        await self.opening.know(message.conversation)
        if count := await self.surfaces.transcript.take_in(session.memory.turns):
            self.host.say(f"{plural(count, 'new turn')} from another jitchat.")
            self.indexing.catch_up()
            self.previews.plan(afresh=True)


TEMPORARY_SAID = "Temporary: no memory is read or written, and it is deleted when you leave it."
ERASED = "Erased: none of its text is left in the database."
LOG_IS_READ = (
    "Deleted, but its text is still in the database log, because another jitchat has it open."
)
NOTHING_DELETED = "Nothing was deleted since jitchat started."


def named(conversation: Conversation) -> str:
    return f"“{shorten(conversation.title, 40)}”"


def tag_changes(typed: str) -> tuple[list[str], list[str]]:
    """Parse the tags to add and, with a `-` before them, those to remove."""
    words = typed.split()
    removed = [word.removeprefix("-") for word in words if word.startswith("-")]
    return [word for word in words if not word.startswith("-")], removed


def _is_new(conversation: Conversation, project: str) -> bool:
    """Whether a conversation is still empty, so that it can be used as a new one."""
    is_listed = not (conversation.is_temporary or conversation.is_archived)
    return is_listed and not conversation.turns and conversation.project == project


@dataclass(eq=False)
class Conversations(Controller):
    opening: Opening
    sends: Sends
    routing: KeyRouting
    open: Callable[..., Awaitable[None]]
    """Opens another conversation, at its end or at one of its turns."""

    def choose(self, edit: str = "") -> None:
        """List the conversations; `edit` starts by editing the title or tags of the open one."""
        from jitchat.tui.dialogs.resume import ResumeScreen  # noqa: PLC0415  not on the first frame

        if not self.sends.waits():
            screen = ResumeScreen(self.backend.store, self.opening.conversation, edit)
            self.host.push(screen, self._resume)

    async def _resume(self, chosen: Choice) -> None:
        from jitchat.tui.dialogs.resume import Deleted  # noqa: PLC0415  not on the first frame

        if isinstance(chosen, Deleted):
            await self.delete(chosen.conversation, erases=chosen.erases)
        elif chosen is not None:
            await self.open(chosen.conversation, chosen.turn)
            self.surfaces.prompt.focus()
        else:
            await self.refresh()

    async def go_to_source(self, source: Source) -> None:
        """Open another conversation at a turn; a notice says that the draft here is kept."""
        if self.sends.waits():
            return
        left, has_draft = self.opening.conversation, bool(self.surfaces.prompt.text.strip())
        store = self.backend.store
        conversation = await asyncio.to_thread(store.conversation, source.conversation)
        await self.open(conversation, source.first)
        self.surfaces.prompt.focus()
        if has_draft and not left.is_temporary:
            self.host.warn(f"Your draft is kept in “{one_line(left.title)}”; /resume goes back.")

    async def begin(self) -> None:
        """Open an empty conversation, reusing one that is already empty."""
        await self.open(await asyncio.to_thread(self._new))

    def _new(self) -> Conversation:
        store = self.backend.store
        project = store.project_of(self.opening.conversation.id)
        new = (each for each in store.conversations() if _is_new(each, project))
        plain = (each for each in new if self.backend.own_instructions(each.id) == Instructions())
        return next(plain, None) or store.create(NEW_TITLE, project=project)

    async def begin_temporary(self) -> None:
        """Open a temporary conversation; it is deleted when it is left."""
        await self.open(await asyncio.to_thread(self._temporary))
        self.host.say(TEMPORARY_SAID)

    def _temporary(self) -> Conversation:
        store = self.backend.store
        project = store.project_of(self.opening.conversation.id)
        return store.create(TEMPORARY_TITLE, project=project, temporary=True)

    def _latest_in(self, project: str) -> Conversation:
        """Return the latest conversation of a project, or a new one."""
        store = self.backend.store
        return store.latest(project) or store.create(NEW_TITLE, project=project)

    async def _choose_project(self) -> None:
        from jitchat.tui.dialogs.choice import projects_screen  # noqa: PLC0415  seldom

        store = self.backend.store
        projects = await asyncio.to_thread(store.projects)
        here = await asyncio.to_thread(store.project_of, self.opening.conversation.id)
        self.host.push(projects_screen(projects, here), self._take_project)

    async def _take_project(self, chosen: ChosenProject | None) -> None:
        """Move the conversation to the chosen project, or open the latest one there."""
        if chosen is not None and chosen.moves:
            await self.move(chosen.name)
        elif chosen is not None:
            latest = await asyncio.to_thread(self._latest_in, chosen.name)
            if latest.id != self.opening.conversation.id:
                await self.open(latest)

    async def move(self, name: str = "") -> None:
        """Move the conversation on screen to a project, whose memory it uses from then on.

        Without a name, the user chooses a project.

        Raises:
            UsageError: The name is not valid.
        """
        if not name:
            await self._choose_project()
            return
        store, present = self.backend.store, self.opening.conversation
        project = project_name(name)
        await asyncio.to_thread(store.move, present.id, project)
        await self.open(await asyncio.to_thread(store.conversation, present.id))
        self.host.say(f"This and new conversations are now in the project {project}.")

    async def rename(self, title: str = "") -> None:
        """Rename the conversation on screen; without a title, it is entered in the list.

        Raises:
            UsageError: The title is blank.
        """
        if not title:
            self.choose("rename")
            return
        await asyncio.to_thread(self.backend.store.rename, self.opening.conversation.id, title)
        await self.refresh()

    async def tag(self, typed: str = "") -> None:
        """Add tags, and remove those with a `-` before them; without any, edit them in the list.

        Raises:
            UsageError: A tag is not valid.
        """
        if not typed:
            self.choose("tag")
            return
        identity = self.opening.conversation.id
        await asyncio.to_thread(self.backend.store.tag, identity, *tag_changes(typed))
        await self.refresh()
        tags = " ".join(f"#{tag}" for tag in self.opening.conversation.tags)
        self.host.say(f"Tags: {one_line(tags)}" if tags else "No tags.")

    async def archive(self) -> None:
        """Archive the conversation on screen, or list it again."""
        present, store = self.opening.conversation, self.backend.store
        await asyncio.to_thread(store.archive, present.id, archived=not present.is_archived)
        await self.refresh()
        now = self.opening.conversation.is_archived
        self.host.say("Archived. is:archived finds it." if now else "No longer archived.")

    async def refresh(self) -> None:
        """Show the conversation as it is now stored; if it was deleted, open another one."""
        store, here = self.backend.store, self.opening.conversation.id
        listed = await asyncio.to_thread(store.conversations)
        present = next((known for known in listed if known.id == here), None)
        if present is None:
            await self._leave(self.opening.conversation, takes_draft=True)
        else:
            await self.opening.know(present)

    def ask_to_delete(self, how: str = "") -> None:
        """Ask whether to delete the conversation on screen; `erase` also wipes its text."""
        present, erases = self.opening.conversation, how == "erase"
        if how and not erases:
            self.host.say("/delete takes no argument except erase.")
        else:
            text = f"{'Erase' if erases else 'Delete'} {named(present)}?"
            delete = self.host.showing_errors(partial(self.delete, present, erases=erases))
            self.routing.ask(Question(text, delete))

    async def delete(self, conversation: Conversation, *, erases: bool = False) -> None:
        """Delete a conversation and, if it is on screen, leave it. Erasing cannot be undone.

        Raises:
            StoreError: The conversation cannot be deleted now.
        """
        if self.sends.waits():
            return
        await asyncio.to_thread(deletion.hide, self.backend.store, conversation.id)
        if conversation.id == self.opening.conversation.id:
            await self._leave(conversation, takes_draft=not (erases or conversation.is_temporary))
        if erases:
            self.host.run(partial(self._erase, conversation), "erase")
        elif not conversation.is_temporary:
            self.host.say(f"Deleted {named(conversation)}. /restore brings it back.")

    async def _leave(self, gone: Conversation, *, takes_draft: bool) -> None:
        """Open the latest other conversation or a new one; `takes_draft` moves the draft there."""
        typed = self.surfaces.prompt.message
        await self.open(await asyncio.to_thread(self._latest_in, gone.project))
        if takes_draft and (typed.text.strip() or typed.files):
            self.surfaces.prompt.give_back(typed)

    async def _erase(self, conversation: Conversation) -> None:
        self.host.say(f"Erasing {named(conversation)}…")
        is_gone = await asyncio.to_thread(deletion.erase, self.backend.store, conversation.id)
        copies = await asyncio.to_thread(self._copies_in_lab, conversation)
        self.host.say(" ".join(filter(None, (ERASED if is_gone else LOG_IS_READ, copies))))

    def _copies_in_lab(self, conversation: Conversation) -> str:
        return self.backend.lab_service().runs.copies_of(conversation.id)

    async def restore(self) -> None:
        """Undo the last deletion and open that conversation."""
        store = self.backend.store
        restored = await asyncio.to_thread(deletion.restore_last, store)
        if restored is None:
            self.host.say(NOTHING_DELETED)
        else:
            await self.open(await asyncio.to_thread(store.conversation, restored))

    def improve_title(self, session: Session, then: Callable[[], object]) -> None:
        """Have the small model, if one is set, title the first exchange; then call `then`."""
        model = session.options.summariser
        if model is not None:
            self.host.run(partial(self._improve, session, then), "title")

    async def _improve(self, session: Session, then: Callable[[], object]) -> None:
        model = session.options.summariser
        try:
            made = model is not None and await improve_title(session.memory, model)
        except JitchatError:  # reported by features that need the store
            return
        if session is self.opening.session:
            then()
            if made:
                await self.refresh()
