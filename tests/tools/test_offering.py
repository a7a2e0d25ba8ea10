"""Which tools are offered if a persona names some."""

from __future__ import annotations

import pytest

from jitchat.tools.offering import Asking, OfferContext, Offering, OfferRules
from jitchat.tools.toolbox import Toolbox
from jitchat.values import REQUEST_CONTEXT, Mode, Tool
from jitchat.window.tokens import EstimateCounter


class Source:
    name = "source"

    def tools(self) -> tuple[Tool, ...]:
        names = ("files__read", "files__write", "git__log", REQUEST_CONTEXT)
        return tuple(Tool(name, "Does something.", "{}") for name in names)


@pytest.mark.parametrize(
    ("globs", "offered"),
    [
        (None, ["files__read", "files__write", "git__log"]),
        (("files",), ["files__read", "files__write"]),
        (("files__r*", "git"), ["files__read", "git__log"]),
        ((), []),
    ],
)
def test_those_of_servers_that_it_names_go_along_and_the_rest_is_told_of(globs, offered) -> None:
    rules = OfferRules(Asking.ON, offers_all=True, globs=globs)
    offering = Offering(Toolbox((Source(),)), rules, EstimateCounter())

    offers = offering.of(OfferContext("hello", Mode.JIT, 8_000, is_first=False))

    assert [each.tool.name for each in offers if each.is_offered] == [*offered, REQUEST_CONTEXT]
    left_out = [each for each in offers if not each.is_offered]
    assert {each.reason for each in left_out} <= {"not one of the persona's tools"}
    assert all(each.tokens for each in left_out)
    assert len(offers) == 4
