"""Sends."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from jitchat.tui.views.view import View


class SendsView(View):
    """Sends."""

    NAME = "Sends"

    def body(self) -> Iterable[Widget]:
        """Make nothing yet."""
        return ()

    def copyable(self) -> str:
        """Write nothing yet."""
        return ""
