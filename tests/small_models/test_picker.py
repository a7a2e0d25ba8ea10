"""The picker with a small model: its choice, or the heuristic's with the reason."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from jitchat.errors import JitchatError, KeyRefused, RequestRefused, StreamCut, WindowOverflow
from jitchat.small_models.picker import ModelPicker, picker_schema
from jitchat.values import Retrieval
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.tokens import EstimateCounter, message_tokens, request_tokens
from tests.small_models.support import UNREPORTED, picks, small
from tests.support import talk, turn
from tests.window.cases import shortlist

COUNTER = EstimateCounter()
BUDGET = Budget(limit=8_000, reserve=500, size=400)
FOUND = shortlist(20, 9, 15, 30, 33, hits=3)
BEST, *OTHERS = FOUND.candidates
STANDING_OUT = replace(FOUND, candidates=(replace(BEST, score=9.0), *OTHERS))


def sources(retrieval: Retrieval = FOUND, turns: int = 60) -> Sources:
    spoken = talk(*(f"turn {number} " + "of the harbour talk " * 8 for number in range(turns)))
    history = History().extended(spoken, lambda text: message_tokens(COUNTER, text))
    return Sources(history, turn(turns + 1, "what was it?"), "large", retrieval=retrieval)


async def picked(*script: object, retrieval: Retrieval = FOUND, seconds: float = 5.0) -> Retrieval:
    picker = ModelPicker(small(*script, seconds=seconds))
    return await picker.pick(sources(retrieval), BUDGET, COUNTER)


async def test_its_picks_and_the_two_best_are_the_hits():
    retrieval = await picked(picks(33, 15))

    assert [hit.turn for hit in retrieval.hits] == [20, 9, 15, 33]
    assert retrieval.picking is not None
    assert (retrieval.picking.model, retrieval.picking.fallback) == ("small-1", "")
    assert retrieval.picking.output_tokens == 10
    assert retrieval.picking.cost is None


async def test_the_tokens_that_are_told_are_those_of_the_request_that_was_sent():
    model = small(picks(33))
    model.provider.usage = UNREPORTED

    retrieval = await ModelPicker(model).pick(sources(), BUDGET, COUNTER)

    (request,) = model.provider.requests
    assert retrieval.picking is not None
    schema = json.dumps(picker_schema([9, 15, 20, 30, 33]))
    sent = request_tokens(COUNTER, request) + COUNTER.count(schema)
    assert retrieval.picking.input_tokens == sent
    assert request[1].content.endswith(
        "<index>\n#9 user: about 9\n#15 user: about 15\n#20 assistant: about 20\n"
        "#30 assistant: about 30\n#33 user: about 33\n</index>\n"
    )
    assert "harbour" not in request[1].content, "no turn at full text"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (("no idea",), "its answer is not the JSON that was asked for"),
        ((picks(),), "it picked nothing"),
        ((picks(4, 500),), "it picked no turn of the list"),
        ((RequestRefused("The provider refused the request (HTTP 500).", "Wait."),),
         "the provider refused the request (HTTP 500)"),
        ((picks(33)[:4], StreamCut("The answer stopped half way.", "Again.")),
         "the answer stopped half way"),
        ((KeyRefused("The provider refused the key (HTTP 401): no.", ""),),
         "the provider refused the key (HTTP 401): no"),
    ],
)  # fmt: skip
async def test_whatever_goes_wrong_the_heuristics_hits_stand_and_it_is_told(script, told):
    retrieval = await picked(*script)

    assert retrieval.hits == FOUND.hits
    assert replace(retrieval, picking=None) == FOUND
    assert retrieval.picking is not None
    assert retrieval.picking.fallback == told
    refused = isinstance(script[0], JitchatError)
    assert (retrieval.picking.input_tokens == 0) == refused


async def test_after_its_time_the_heuristics_hits_stand():
    retrieval = await picked(asyncio.Event(), seconds=0.02)

    assert retrieval.hits == FOUND.hits
    assert retrieval.picking is not None
    assert retrieval.picking.fallback == "no answer in 0.02 s"
    assert retrieval.picking.input_tokens > 0, "it may have been worked on"


@pytest.mark.parametrize(
    ("retrieval", "told"),
    [
        (Retrieval(), "not asked, as nothing was found"),
        (
            shortlist(60, 59),
            "not asked, as every turn that was found is in the window anyway",
        ),
        (STANDING_OUT, "not asked, as one turn stands out from all others"),
    ],
)
async def test_it_is_not_asked_where_there_is_nothing_to_choose(retrieval, told):
    model = small(picks(60))

    found = await ModelPicker(model).pick(sources(retrieval), BUDGET, COUNTER)

    assert model.provider.requests == []
    assert found.hits == retrieval.hits
    assert found.picking is not None
    assert found.picking.fallback == told


async def test_nor_where_the_whole_conversation_is_sent_anyway():
    model = small(picks(1))

    await ModelPicker(model).pick(sources(shortlist(1, 2), turns=3), BUDGET, COUNTER)

    assert model.provider.requests == []


async def test_nor_where_the_message_does_not_fit_at_all():
    model = small(picks(33))

    with pytest.raises(WindowOverflow):
        await ModelPicker(model).pick(sources(), Budget(limit=60, reserve=20), COUNTER)

    assert model.provider.requests == []
