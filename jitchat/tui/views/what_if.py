"""What if."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget

from jitchat.tui.views.view import View


class WhatIfView(View):
    """What if."""

    NAME = "What if"

    def body(self) -> Iterable[Widget]:
        """Make nothing yet."""
        return ()

    def copyable(self) -> str:
        """Write nothing yet."""
        return ""
