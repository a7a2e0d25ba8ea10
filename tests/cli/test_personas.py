"""`--persona`: its effect on one command, and what the conversation keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jitchat.cli import chat
from jitchat.settings import edit
from jitchat.settings.sections import NamedPersona
from jitchat.store.database import Database
from jitchat.store.pins import OwnInstructions
from jitchat.tui import garbage
from jitchat.values import Instructions
from jitchat.window.render import READING

if TYPE_CHECKING:
    from jitchat.tui.app import JitchatApp
    from tests.cli.conftest import Shell
    from tests.support import ScriptedProvider


@pytest.fixture(autouse=True)
def configured(demo: None, jitchat: Shell) -> None:
    for name, system in (("poet", "In verse."), ("terse", "Be terse.")):
        made = NamedPersona(name, system, temperature=0.5)
        edit.save_persona(jitchat.home / "config.toml", made, replaces=False)


def system(jitchat: Shell, *arguments: str) -> tuple[str, str]:
    """Return the system text of the window that a command shows, and its origin.

    In the demo, the sentence on how to read the window follows every text.
    """
    window: Any = jitchat("window", "hello", *arguments, "--json").json
    text, _ = window["messages"][0]["content"].split(f"\n\n{READING}")
    return text, window["segments"][0]["reason"]


def test_a_window_has_the_persona_and_nothing_is_stored(jitchat: Shell) -> None:
    plain = system(jitchat)
    assert system(jitchat, "--persona", "poet") == ("In verse.", "persona poet")
    flag = ("--persona", "poet", "--system", "Of the flag.")
    assert system(jitchat, *flag)[0] == "Of the flag."
    assert "(system · persona poet)" in jitchat("why", "57", "hello", "--persona", "poet").out
    assert system(jitchat) == plain


def test_a_conversation_keeps_its_persona_after_a_send_until_another_is_named(
    jitchat: Shell, scripted: ScriptedProvider
) -> None:
    jitchat("send", "hello", "--persona", "poet", "--conversation", "demo")
    assert scripted.requests[0][0].content == f"In verse.\n\n{READING}"
    assert system(jitchat) == ("In verse.", "persona poet")
    assert system(jitchat, "--persona", "terse")[1] == "persona terse"
    assert system(jitchat, "--persona", "")[1] == "instructions"
    assert system(jitchat, "--conversation", "demo")[1] == "persona poet"
    jitchat("send", "hello", "--persona", "", "--conversation", "demo")
    assert system(jitchat)[1] == "instructions"

    sent = "The window that was sent in jit for #61, “hello” (system · persona poet):"
    assert sent in jitchat("why", "57", "--turn", "61").out
    assert "persona poet" in jitchat("replay", "61").out


def test_lists_and_exports_state_the_persona(jitchat: Shell, scripted: ScriptedProvider) -> None:
    jitchat("send", "hello", "--persona", "poet", "--conversation", "demo")
    assert jitchat("conversations").out.endswith(" (persona poet)\n")
    assert jitchat("conversations", "--json").json[0]["persona"] == "poet"
    database = Database(jitchat.home / "jitchat.db")
    OwnInstructions(database).put("demo", Instructions("Rhyme, ```always```.", "poet"))
    database.close()
    markdown, html = (jitchat("export", "--format", name).out for name in ("markdown", "html"))
    assert "*demo · 62 turns · persona poet*\n" in markdown
    assert "\n````\nRhyme, ```always```.\n````\n" in markdown
    assert "<p>demo · 62 turns · persona poet</p>" in html
    assert "Instructions for this conversation</summary><pre>Rhyme, ```always```.</pre>" in html


def test_the_chat_applies_the_persona_only_to_the_conversation_it_opens(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[str]()

    def run_app(app: JitchatApp) -> int:
        backend = app._backend
        other = backend.store.create("Other")
        seen.extend(backend.settings_for(each).chat.persona for each in ("demo", other.id))
        return 0

    monkeypatch.setattr(chat, "require_terminal", lambda otherwise: None)
    monkeypatch.setattr(garbage, "pause", lambda: None)
    monkeypatch.setattr(chat, "run_app", run_app)
    assert jitchat("--persona", "poet").code == 0
    assert seen == ["poet", ""]


def test_a_missing_persona_is_reported_and_the_settings_apply(
    jitchat: Shell, scripted: ScriptedProvider
) -> None:
    jitchat("send", "hello", "--persona", "poet", "--conversation", "demo")
    (jitchat.home / "config.toml").unlink()
    told = jitchat("window", "hello")
    assert "The persona poet is no longer configured" in told.err
    assert " persona poet" not in told.out
    refused = jitchat("send", "hello", "--persona", "poet", "--conversation", "demo")
    assert (refused.code, "there is no persona 'poet'" in refused.err) == (2, True)


def test_the_list_of_settings_names_the_persona_as_origin(jitchat: Shell) -> None:
    rows = [line.split() for line in jitchat("config", "--persona", "poet").out.splitlines()]
    assert [row[0] for row in rows if row[-2:] == ["persona", "poet"]] == [
        "chat.system",
        "provider.temperature",
    ]
