"""The views by name; each is imported when it is opened for the first time.

The view of an action `view('sent_windows')` is `SentWindowsView` in `sent_windows.py`.
"""

from importlib import import_module
from pathlib import Path

from jitchat.tui.actions import VIEWS
from jitchat.tui.views.view import Subject, View


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
    class_name = "".join(word.capitalize() for word in name.split("_")) + "View"
    view: type[View] = getattr(import_module(f"jitchat.tui.views.{name}"), class_name)
    return view
