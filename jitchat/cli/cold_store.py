"""Opening the cold store, the settings and a conversation for a command.

The app's first frame waits for all of it, so nothing here loads more than that frame needs.
"""

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from jitchat.cli import options, output
from jitchat.cli.log import kept_log
from jitchat.errors import JitchatError, SettingsError, UsageError
from jitchat.paths import Paths, is_missing
from jitchat.settings import Settings, checks, personas
from jitchat.store import deletion, models, replies, search_index
from jitchat.store.database import Database
from jitchat.store.drafts import Drafts
from jitchat.store.pins import OwnInstructions
from jitchat.store.store import NEW_TITLE, TEMPORARY_TITLE, ColdStore, project_name
from jitchat.text.figures import plural
from jitchat.text.sanitize import shorten
from jitchat.transfer.demo import DEMO_ID, store_demo
from jitchat.values import DEFAULT_PROJECT, Conversation, Instructions


def quiet_libraries() -> None:
    """Keep the libraries' log lines off the terminal, where they would corrupt the screen."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger("httpx").setLevel(logging.WARNING)


def open_store(paths: Paths) -> ColdStore:
    """Open the cold store, and mark the unfinished replies of a crashed run as interrupted."""
    with kept_log(paths.log):  # for a line if no copy was kept before a migration
        database = Database(paths.database)
    database.on_notice = output.warn
    database.on_wait = _say_wait
    try:
        store = ColdStore(database)
        replies.close_interrupted(store)
        Drafts(database).take_over()
        search_index.finish_in_background(database)
        if deleted := deletion.delete_left(store):
            what = plural(deleted, "temporary conversation")
            output.warn(f"deleted {what} left over from an earlier run.")
    except BaseException:  # close on any failure
        database.close()
        raise
    return store


def _say_wait(sentence: str) -> None:
    if sentence:
        output.warn(sentence)


@contextmanager
def opened_store(paths: Paths) -> Iterator[ColdStore]:
    quiet_libraries()
    store = open_store(paths)
    with closing(store.database), kept_log(paths.log):
        if warning := store.database.warning():
            output.warn(warning)
        yield store


@contextmanager
def usage_log(paths: Paths, *, wanted: bool) -> Iterator[Database | None]:
    """Open the user's database to record a command's requests; yield None unless `wanted`."""
    if not wanted:
        yield None
        return
    with opened_store(paths) as store:
        yield store.database


def load_settings(flags: options.Flags) -> Settings:
    """Load the settings and apply the persona that they name."""
    return personas.settings_for(plain_settings(flags), Instructions())


def plain_settings(flags: options.Flags) -> Settings:
    """Load the settings; the model picked in the app is used if nothing else names one."""
    paths = flags.paths()
    with kept_log(paths.log):
        return flags.settings(picked_model(paths.database))


def keep_persona(store: ColdStore, conversation: str, flags: options.Flags) -> None:
    """Store the persona given by --persona with the conversation; an empty name removes it."""
    named = flags.given.get("chat.persona")
    if isinstance(named, str):
        own = OwnInstructions(store.database)
        own.put(conversation, replace(own.get(conversation), persona=named))


def picked_model(path: Path) -> tuple[str, str] | None:
    """Return the provider and model picked in the app, or None if none can be read.

    Errors of the cold store are not reported here: opening it does that.
    """
    with existing_database(path) as database, suppress(JitchatError):
        return models.ChosenModel(database).get() if database is not None else None
    return None


def existing_database(path: Path) -> AbstractContextManager[Database | None]:
    """Open a database; None if there is none or it is unreadable."""
    with suppress(JitchatError):
        return nullcontext() if is_missing(path) else closing(Database(path))
    return nullcontext()


def choose_conversation(
    store: ColdStore, wanted: str | None, project: str | None = None, *, sends: bool = False
) -> Conversation:
    """Return the wanted conversation; by default the most recent one.

    In a project without conversations a new one is created. The demo is stored when it is needed.
    For a command that `sends`, the default is never the demo, but a new conversation if there is no
    other.
    """
    if wanted is None and (sends or project is not None):
        name = project_name(project) if project is not None else None
        latest = store.latest(name, DEMO_ID if sends else "")
        return latest or store.create(NEW_TITLE, project=name or DEFAULT_PROJECT)
    if wanted is None:
        listed = store.latest() or next(iter(store.conversations()), None)
        return listed or store_demo(store)
    if wanted == DEMO_ID and all(known.id != DEMO_ID for known in store.conversations()):
        return store_demo(store)
    found = store.conversation(wanted)
    if project is not None and found.project != project_name(project):
        raise UsageError(
            f"{found.id} is in the project {found.project}, not in {shorten(project, 60)}.",
            "Omit --project; /project in the chat moves a conversation.",
        )
    return found


@contextmanager
def chosen_conversation(
    store: ColdStore, flags: options.Flags, *, sends: bool = False
) -> Iterator[Conversation]:
    """Choose or create the conversation that the flags ask for.

    At exit, a temporary one is deleted, and a new one in which nothing was stored.
    """
    if not (flags.new or flags.temporary):
        yield choose_conversation(store, flags.conversation, flags.project, sends=sends)
        return
    flag, title = ("--temporary", TEMPORARY_TITLE) if flags.temporary else ("--new", NEW_TITLE)
    if flags.conversation is not None:
        raise UsageError(f"{flag} starts a new conversation.", f"Omit --conversation or {flag}.")
    project = project_name(flags.project) if flags.project is not None else DEFAULT_PROJECT
    created = store.create(title, project=project, temporary=flags.temporary)
    try:
        yield created
    finally:
        if flags.temporary or not store.tree(created.id).last:
            deletion.delete_conversation(store, created.id)


def check_key_bindings(settings: Settings) -> None:
    if not settings.keys:
        return
    from jitchat.tui.actions import keys_by_id  # noqa: PLC0415  loads textual

    known = keys_by_id()
    origin = settings.origins.get("keys", "[keys]")
    for name in settings.keys:
        if name not in known:
            raise SettingsError(
                f"{origin}: 'keys.{shorten(name, 40)}' is not an action of jitchat.",
                f"[keys] can set {', '.join(known)}.{checks.nearest(name, known)}",
            )
    taken: dict[str, str] = {}
    for action, listed in (known | dict(settings.keys)).items():
        for key in filter(None, (piece.strip() for piece in listed.split(","))):
            if other := taken.get(key):
                raise SettingsError(
                    f"{origin}: {shorten(key, 40)!r} is bound to both {other} and {action}.",
                    "Choose a different key for one of them.",
                )
            taken[key] = action
