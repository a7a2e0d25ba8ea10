"""Reads the replies of small models: JSON values, and numbers in any form."""

from typing import TypeVar

from jitchat.errors import NotAnAnswer
from jitchat.text.json_values import at, parsed

_FENCE = "```"
_LONGEST_NUMBER = 18
_Value = TypeVar("_Value", list[object], dict[str, object])


def parse_value(reply: str, name: str, kind: type[_Value]) -> _Value:
    """Read a value of the JSON object in `reply`; a code fence around the object is ignored.

    Raises:
        NotAnAnswer: The reply is something else.

    """
    text = reply.strip()
    if text.startswith(_FENCE) and text.endswith(_FENCE) and "\n" in text:
        text = text.partition("\n")[2].removesuffix(_FENCE)
    value = at(parsed(text), name)
    if not isinstance(value, kind):
        raise wrong_format()
    return value


def parse_number(value: object) -> int:
    """Read a number as a small model may write it: 12, "12" or "#12"; 0 for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    digits = value.strip().removeprefix("#") if isinstance(value, str) else ""
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER
    return int(digits) if is_number else 0


def wrong_format() -> NotAnAnswer:
    return NotAnAnswer("Its answer is not the JSON that was asked for.", "Name another model.")
