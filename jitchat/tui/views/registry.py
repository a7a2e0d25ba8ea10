"""Every view by name; each is imported when it is opened for the first time."""

from importlib import import_module
from pathlib import Path

from jitchat.tui.views.view import Subject, View

VIEWS = {
    "ledger": "LedgerView",
    "what_if": "WhatIfView",
    "ask_all": "AskAllView",
    "budget": "BudgetView",
    "sends": "SendsView",
    "wire": "WireView",
    "history": "HistoryView",
    "leave_one_out": "LeaveOneOutView",
    "missing_turn": "MissingTurnView",
    "regression_cases": "RegressionCasesView",
}
"""By the name of its module here: its class."""
LAB = "jitchat.tui.lab.start"
"""The first screen of the rot lab; it imports the others."""


def make_view(name: str, subject: Subject) -> View:
    """Make the view of that name."""
    return _class_of(name)(subject)


def load_views() -> list[Path]:
    """Import every view, and the lab; the files with their styles. Slow: for a thread."""
    views = Path(__file__).parent
    for name in VIEWS:
        _class_of(name)
    import_module(LAB)
    return [*sorted(views.glob("*.tcss")), *sorted((views.parent / "lab").glob("*.tcss"))]


def _class_of(name: str) -> type[View]:
    found: type[View] = getattr(import_module(f"jitchat.tui.views.{name}"), VIEWS[name])
    return found
