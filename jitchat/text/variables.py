"""`${NAME}` and `${NAME:-default}` in a text, as shells and configuration files write them."""

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{(\w++)(?::-((?:[^}$]|\$(?!\{))*+))?\}", re.ASCII)


def expanded(text: str, environ: Mapping[str, str]) -> str:
    """Fill in the variables of a text. An empty variable counts as one that is not set.

    Raises:
        LookupError: A variable without a default is not set; its argument is the name.

    """

    def value(found: re.Match[str]) -> str:
        given = environ.get(found[1]) or found[2]
        if given is None:
            raise LookupError(found[1])
        return given

    return _VARIABLE.sub(value, text)


def variables_in(text: str, *, required: bool = False) -> tuple[str, ...]:
    """Name the variables of a text, in order; of those that are `required`, none has a default."""
    found = _VARIABLE.finditer(text)
    return tuple(each[1] for each in found if each[2] is None or not required)
