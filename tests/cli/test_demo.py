"""`jitchat demo`: its requirements, which model answers, and that it leaves nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.cli import chat
from jitchat.cli.chat import tour_settings
from jitchat.cli.options import Flags
from jitchat.tui import garbage

if TYPE_CHECKING:
    from pathlib import Path

    from jitchat.tui.lab.live import LiveApp
    from jitchat.tui.tour.app import TourApp
    from tests.cli.conftest import Shell

CONFIG = """
[provider]
name = "openai"
model = "gpt-5-mini"
[picker]
model = "gpt-5-nano"
[summariser]
model = "gpt-5-nano"
[screen]
theme = "nord"
inspector = false
[window]
size = 512
"""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["demo"], "The tour requires a terminal; "),
        (["demo", "--record"], "The tour requires a terminal; "),
        (["demo", "--pace", "2"], "--pace requires --record."),
        (["demo", "--record", "--pace", "0"], "'--pace'"),
        (["--db", "x.db", "demo"], "The tour uses a temporary database: omit --db."),
        (["demo", "--provider", "nobody"], "'nobody'"),
    ],
)
def test_unmet_requirements_end_with_an_error(
    jitchat: Shell, arguments: list[str], told: str
) -> None:
    done = jitchat(*arguments)

    assert done.code == 2
    assert done.out == ""
    assert told in done.err.splitlines()[-1]
    assert not jitchat.home.exists()


def test_the_help_states_the_keys_the_model_and_the_needs_of_a_recording(jitchat: Shell) -> None:
    told = " ".join(jitchat("demo", "--help").out.split())

    assert "Space, →, PgDn or Enter" in told
    assert "nothing leaves this machine; with --model, --provider or --base-url" in told
    assert "120 by 36" in told
    assert "--db" not in told


@pytest.mark.parametrize(
    ("given", "answers"),
    [
        ({}, ("reader", "reader")),
        ({"provider.limit": 8_192}, ("reader", "reader")),
        ({"provider.model": "gpt-5"}, ("openai", "gpt-5")),
        ({"provider.name": "ollama", "provider.model": "qwen3:8b"}, ("ollama", "qwen3:8b")),
        ({"provider.base_url": "http://localhost:9999/v1"}, ("openai", "gpt-5-mini")),
    ],
)
def test_the_reader_answers_unless_a_flag_names_a_model(
    tmp_path: Path, given: dict[str, object], answers: tuple[str, str]
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(CONFIG)

    settings = tour_settings(Flags(config=config, given=given))

    assert (settings.in_use().name, settings.model_name()) == answers
    assert (settings.picker.model, settings.summariser.model) == ("", "")
    assert settings.screen.inspector
    assert (settings.screen.theme, settings.window.size) == ("nord", 512)


@pytest.mark.parametrize(("arguments", "pace"), [([], None), (["--record", "--pace", "2"], 2.0)])
def test_it_runs_on_a_temporary_database(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch, arguments: list[str], pace: float | None
) -> None:
    ran: list[tuple[Path, list[str], float | None]] = []

    def run_app(app: TourApp) -> int:
        backend = app._backend
        file = backend._paths.database  # type: ignore[attr-defined]
        assert file.is_file()
        assert backend._paths.rot.parent == file.parent  # type: ignore[attr-defined]
        ran.append((file, [each.id for each in backend.store.conversations()], app.pace))
        return 3

    monkeypatch.setattr(chat, "run_app", run_app)
    monkeypatch.setattr(chat, "require_terminal", lambda otherwise: None)
    monkeypatch.setattr(garbage, "pause", lambda: None)

    assert jitchat("demo", *arguments).code == 3
    ((file, conversations, given),) = ran
    assert (conversations, given) == (["demo"], pace)
    assert not file.parent.exists()
    assert not jitchat.home.exists()


def test_live_shows_the_live_demo_on_a_temporary_database(
    jitchat: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Path] = []

    def run_app(app: LiveApp) -> int:
        assert type(app).__name__ == "LiveApp"
        assert app._pace == 1.0
        ran.append(app._backend._paths.database)  # type: ignore[attr-defined]
        return 0

    monkeypatch.setattr(chat, "run_app", run_app)
    monkeypatch.setattr(chat, "require_terminal", lambda otherwise: None)
    monkeypatch.setattr(garbage, "pause", lambda: None)

    assert jitchat("demo", "--live", "--record").code == 0
    (file,) = ran
    assert not file.parent.exists()
    assert not jitchat.home.exists()
