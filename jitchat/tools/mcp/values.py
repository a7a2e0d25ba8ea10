"""What a server lists and returns, as plain values that do not need the SDK."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server lists it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    annotations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Argument:
    """A variable of a template or an argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    """The address; a URI template (RFC 6570) if there are arguments."""
    name: str
    description: str = ""
    mime_type: str = ""
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    description: str = ""
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    text: str
    is_error: bool
