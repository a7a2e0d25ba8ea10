"""The picker with a small model: the heuristic's retrieval in, the model's out, never an error.

Whatever goes wrong, the heuristic's hits stand, and `Retrieval.picking` says why and what it
took to find out.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from jitchat.errors import JitchatError
from jitchat.subcall.picking import chosen_ids, joined, lines_of, picker_request
from jitchat.subcall.small_model import Heard, SmallModel
from jitchat.turn import Mode, Picking, Retrieval
from jitchat.window.budget import Budget
from jitchat.window.plan import Sources, plan
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import Kind

_NOT_YET = "not asked before the message is sent"
_NOTHING = "not asked, as nothing was found"
_NO_CHOICE = "not asked, as every turn that was found is in the window anyway"


class ModelPicker:
    """Has a small model choose what is recalled."""

    def __init__(self, model: SmallModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    def not_asked(self, retrieval: Retrieval) -> Retrieval:
        """Say that a window is planned without asking, for nothing is sent yet."""
        return self._fallen_back(retrieval, _NOT_YET)

    async def pick(self, sources: Sources, budget: Budget, counter: TokenCounter) -> Retrieval:
        """Choose the hits of `sources`, which are the heuristic's.

        Raises:
            WindowOverflow: What must be sent does not fit, whatever is recalled.

        """
        retrieval = sources.retrieval
        lines = await asyncio.to_thread(_lines_to_choose_from, sources, budget, counter)
        if not lines:
            return self._fallen_back(retrieval, _NO_CHOICE if retrieval.candidates else _NOTHING)
        heard = await self._model.ask(picker_request(sources.draft.content, lines))
        try:
            ids = chosen_ids(_whole(heard), lines)
        except JitchatError as error:
            return replace(retrieval, picking=self._picking(heard, _clause(error.what)))
        return joined(retrieval, ids, self._picking(heard))

    def _fallen_back(self, retrieval: Retrieval, why: str) -> Retrieval:
        return replace(retrieval, picking=Picking(self.name, why))

    def _picking(self, heard: Heard, fallback: str = "") -> Picking:
        return Picking(
            self.name,
            fallback,
            heard.input_tokens,
            heard.output_tokens,
            heard.exact,
            heard.ms,
            heard.cost,
        )


def _lines_to_choose_from(
    sources: Sources, budget: Budget, counter: TokenCounter
) -> dict[int, str]:
    """Write the index lines to choose from; none where the window holds all of those turns."""
    lines = lines_of(sources.retrieval, sources.history)
    kinds = plan(Mode.JIT, sources, budget, counter).kind_of_turns()
    is_open = any(kinds.get(turn, Kind.INDEX) is Kind.INDEX for turn in lines)
    return lines if is_open else {}


def _whole(heard: Heard) -> str:
    if heard.error is not None:
        raise heard.error
    return heard.text


def _clause(sentence: str) -> str:
    """Make a sentence a part of another one."""
    text = sentence.rstrip(".")
    return text[:1].lower() + text[1:] if text.startswith(("The ", "It ", "Its ", "No ")) else text
