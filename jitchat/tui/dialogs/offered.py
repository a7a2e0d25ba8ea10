"""The resources or prompts that MCP servers offer."""

from collections.abc import Sequence
from dataclasses import dataclass

from jitchat.text.sanitize import one_line
from jitchat.tools.mcp.values import Argument
from jitchat.tui.dialogs.choice import ChoiceScreen, titled
from jitchat.tui.drawing import Content


@dataclass(frozen=True, slots=True)
class Offered:
    server: str
    name: str
    """The server's identifier: a prompt's name, or a resource's URI."""
    title: str
    description: str = ""
    arguments: tuple[Argument, ...] = ()
    is_prompt: bool = False

    @property
    def takes(self) -> str:
        """The names of its arguments, required ones with `*`; empty if it has none."""
        return ", ".join(f"{one_line(each.name)}{'*' * each.required}" for each in self.arguments)


def offered_screen(title: str, offered: Sequence[Offered]) -> ChoiceScreen[Offered]:
    rows = [(row(choice), choice) for choice in offered]
    return ChoiceScreen(title, "Enter select · Esc close", rows)


def row(offered: Offered) -> Content:
    takes = f" ({offered.takes})" if offered.arguments else ""
    server, title = one_line(offered.server), one_line(offered.title)
    named = f"/{server}:{title}" if offered.is_prompt else f"{server}: {title}"
    return titled(f"{named}{takes}", one_line(offered.description))
