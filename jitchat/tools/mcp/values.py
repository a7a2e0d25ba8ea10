"""What a server lists and gives back, in plain values: nobody needs the SDK to hold them."""

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
    """Something that is to be filled in."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    """With variables, as RFC 6570 has them, where there are arguments: a template."""
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
