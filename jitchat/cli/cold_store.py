"""What a command opens: the cold store, the model that was picked in the app, a conversation.

Nothing here waits for more than the first frame of the app needs.
"""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from jitchat.cli import options, output
from jitchat.cli.log import kept_log
from jitchat.errors import JitchatError, SettingsError, UsageError
from jitchat.paths import Paths
from jitchat.settings import Settings, checks, personas
from jitchat.store import deletion, models, replies
from jitchat.store.database import Database
from jitchat.store.pins import OwnInstructions
from jitchat.store.store import NEW_TITLE, TEMPORARY_TITLE, ColdStore, project_name
from jitchat.text.sanitize import shorten
from jitchat.transfer.demo import DEMO_ID, store_demo
from jitchat.values import DEFAULT_PROJECT, Conversation, Instructions


def quiet_libraries() -> None:
    """Keep libraries' log lines off the terminal: on the screen they would be drawn over it."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.getLogger("httpx").setLevel(logging.WARNING)


def open_store(paths: Paths) -> ColdStore:
    """Open the cold store, and mark the replies of a crashed run as interrupted."""
    database = Database(paths.database)
    database.on_notice = output.warn
    try:
        store = ColdStore(database)
        replies.close_interrupted(store)
        if deleted := deletion.delete_left(store):
            what = "1 temporary conversation" if deleted == 1 else f"{deleted} temporary ones"
            output.warn(f"{what} of an earlier start is deleted now, as it was to be when left.")
    except BaseException:  # closed whatever it was, and passed on
        database.close()
        raise
    return store


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
    """Open the user's database to record what a command asks of providers; None: it asks none."""
    if not wanted:
        yield None
        return
    with opened_store(paths) as store:
        yield store.database


def load_settings(flags: options.Flags) -> Settings:
    """Load the settings, with the persona that they name laid over them."""
    return personas.settings_for(plain_settings(flags), Instructions())


def plain_settings(flags: options.Flags) -> Settings:
    """Load the settings, with the model that was picked in the app as their weakest source."""
    return flags.settings(picked_model(flags.paths().database))


def keep_persona(store: ColdStore, conversation: str, flags: options.Flags) -> None:
    """Have a conversation keep the persona that a flag gives it; an empty one is none."""
    named = flags.given.get("chat.persona")
    if isinstance(named, str):
        own = OwnInstructions(store.database)
        own.put(conversation, replace(own.get(conversation), persona=named))


def picked_model(path: Path) -> tuple[str, str] | None:
    """Look up the provider and model that were picked in the app; None where none can be read.

    What is wrong with the cold store is told by whoever needs it.
    """
    if not path.exists():
        return None
    try:
        with closing(Database(path)) as database:
            return models.ChosenModel(database).get()
    except JitchatError:
        return None


def choose_conversation(
    store: ColdStore, wanted: str | None, project: str | None = None
) -> Conversation:
    """Find the one that is wanted, else the one touched last; the demo is stored when needed.

    Of a project that has none, a new one is made.
    """
    if wanted is None and project is not None:
        name = project_name(project)
        return store.latest(name) or store.create(NEW_TITLE, project=name)
    if wanted is None:
        listed = store.latest() or next(iter(store.conversations()), None)
        return listed or store_demo(store)
    if wanted == DEMO_ID and all(known.id != DEMO_ID for known in store.conversations()):
        return store_demo(store)
    found = store.conversation(wanted)
    if project is not None and found.project != project_name(project):
        raise UsageError(
            f"{found.id} is in the project {found.project}, not in {shorten(project, 60)}.",
            "Leave --project out; /project in the chat moves a conversation.",
        )
    return found


@contextmanager
def chosen_conversation(store: ColdStore, flags: options.Flags) -> Iterator[Conversation]:
    """Choose as `choose_conversation` does; one that is temporary is deleted afterwards."""
    if flags.new and not flags.temporary:
        yield create_new(store, flags)
        return
    if not flags.temporary:
        yield choose_conversation(store, flags.conversation, flags.project)
        return
    made = create_temporary(store, flags)
    try:
        yield made
    finally:
        deletion.delete_conversation(store, made.id)


def create_temporary(store: ColdStore, flags: options.Flags) -> Conversation:
    """Make a temporary conversation.

    Raises:
        UsageError: Another one is named.

    """
    project = _project_of_new(flags, "--temporary")
    return store.create(TEMPORARY_TITLE, project=project, temporary=True)


def create_new(store: ColdStore, flags: options.Flags) -> Conversation:
    """Make a conversation; its first message names it.

    Raises:
        UsageError: Another one is named.

    """
    return store.create(NEW_TITLE, project=_project_of_new(flags, "--new"))


def _project_of_new(flags: options.Flags, flag: str) -> str:
    if flags.conversation is not None:
        raise UsageError(
            f"{flag} begins a new conversation.", f"Leave --conversation out, or {flag}."
        )
    return project_name(flags.project) if flags.project is not None else DEFAULT_PROJECT


def check_key_bindings(settings: Settings) -> None:
    if not settings.keys:
        return
    from jitchat.tui.actions import keys_by_id  # noqa: PLC0415  loads textual

    known = keys_by_id()
    origin = settings.origins.get("keys", "[keys]")
    for name in settings.keys:
        if name not in known:
            raise SettingsError(
                f"{origin}: 'keys.{shorten(name, 40)}' is no action of jitchat.",
                f"[keys] may hold {', '.join(known)}.{checks.nearest(name, known)}",
            )
    taken: dict[str, str] = {}
    for action, listed in (known | dict(settings.keys)).items():
        for key in filter(None, (piece.strip() for piece in listed.split(","))):
            if other := taken.get(key):
                raise SettingsError(
                    f"{origin}: {shorten(key, 40)!r} is a key of {other} and of {action}.",
                    "Give one of them another.",
                )
            taken[key] = action
