"""Every view by name; each is imported when it is opened for the first time."""

from importlib import import_module
from pathlib import Path

from jitchat.tui.views.view import Subject, View

VIEWS = {
    "ledger": "LedgerView",
    "what_if": "WhatIfView",
    "ask_all": "AskAllView",
    "budget": "BudgetView",
    "sent_windows": "SentWindowsView",
    "wire": "WireView",
    "history": "HistoryView",
    "leave_one_out": "LeaveOneOutView",
    "missing_turn": "MissingTurnView",
    "regression_cases": "RegressionCasesView",
}
"""By the name of its module, which the action that opens it bears too: the class."""


def make_view(name: str, subject: Subject) -> View:
    return _class_of(name)(subject)


def load_views() -> list[Path]:
    """Import every view, and the lab; the files with their styles. Slow: for a thread."""
    views = Path(__file__).parent
    for name in VIEWS:
        _class_of(name)
    import_module("jitchat.tui.lab.start")
    return [*sorted(views.glob("*.tcss")), *sorted((views.parent / "lab").glob("*.tcss"))]


def _class_of(name: str) -> type[View]:
    view: type[View] = getattr(import_module(f"jitchat.tui.views.{name}"), VIEWS[name])
    return view
