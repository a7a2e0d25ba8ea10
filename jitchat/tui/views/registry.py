"""Every view by name; each is imported when it is opened for the first time."""

from importlib import import_module
from pathlib import Path

from jitchat.tui.views.view import Subject, View

VIEWS = {
    "ledger": "ledger.LedgerView",
    "what_if": "what_if.WhatIfView",
    "ask_all": "ask_all.AskAllView",
    "budget": "budget.BudgetView",
    "sent_windows": "sent_windows.SentWindowsView",
    "wire": "wire.WireView",
    "history": "history.HistoryView",
    "leave_one_out": "leave_one_out.LeaveOneOutView",
    "missing_turn": "missing_turn.MissingTurnView",
    "regression_cases": "regression_cases.RegressionCasesView",
}
"""By name: the module and the class."""
LAB = "jitchat.tui.lab.start"
"""The first screen of the rot lab; it imports the others."""


def make_view(name: str, subject: Subject) -> View:
    return _class_of(name)(subject)


def load_views() -> list[Path]:
    """Import every view, and the lab; the files with their styles. Slow: for a thread."""
    views = Path(__file__).parent
    for name in VIEWS:
        _class_of(name)
    import_module(LAB)
    return [*sorted(views.glob("*.tcss")), *sorted((views.parent / "lab").glob("*.tcss"))]


def _class_of(name: str) -> type[View]:
    module, _, view = VIEWS[name].partition(".")
    view_class: type[View] = getattr(import_module(f"jitchat.tui.views.{module}"), view)
    return view_class
