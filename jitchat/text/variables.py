"""`${NAME}` and `${NAME:-default}` in a text, as shells and configuration files write them."""

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{(\w++)(?::-((?:[^}$]|\$(?!\{))*+))?\}", re.ASCII)


def expanded(text: str, environ: Mapping[str, str]) -> str:
    """Substitute the variables in a text. An empty variable counts as not set.

    Raises:
        LookupError: A variable without a default is not set; the argument is its name.

    """

    def value(found: re.Match[str]) -> str:
        text = environ.get(found[1]) or found[2]
        if text is None:
            raise LookupError(found[1])
        return text

    return _VARIABLE.sub(value, text)


def variables_in(text: str, *, required: bool = False) -> tuple[str, ...]:
    """Return the names of a text's variables, in order; if `required`, those without a default."""
    found = _VARIABLE.finditer(text)
    return tuple(each[1] for each in found if each[2] is None or not required)
