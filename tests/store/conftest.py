"""The store creates new files itself."""

from __future__ import annotations

import pytest

from jitchat.store import database


@pytest.fixture(autouse=True)
def schema_made_anew(monkeypatch: pytest.MonkeyPatch, schema_made_once: None) -> None:
    monkeypatch.setattr(database, "_connect", database._connect.__wrapped__)
