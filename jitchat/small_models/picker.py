"""The picker with a small model: the heuristic's retrieval in, the model's out, never an error.

Whatever goes wrong, the heuristic's hits are used, and `Retrieval.picking` states why and what the
attempt cost.

The picker sees the draft and index lines, never a turn at full text. The two best turns of the
ranking are added to its picks, so that a small model's mistake cannot lose an obvious match.
"""

import asyncio
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from importlib.resources import files

from jitchat.errors import JitchatError, NotAnAnswer
from jitchat.small_models.replies import parse_number, parse_value
from jitchat.small_models.small_model import SmallModel, SmallModelReply, request_of
from jitchat.text.sanitize import both_ends
from jitchat.values import Hit, Message, Mode, Picking, Retrieval
from jitchat.window.budget import Budget
from jitchat.window.history import History
from jitchat.window.parts import Sources
from jitchat.window.plan import plan
from jitchat.window.render import index_line
from jitchat.window.tokens import TokenCounter
from jitchat.window.window import ContextWindow, Kind

_NOT_YET = "not asked before the message is sent"
_NOTHING = "not asked, as nothing was found"
_CLEAR = "not asked, as one turn stands out from all others"
_NO_CHOICE = "not asked, as every turn that was found is in the window anyway"


class ModelPicker:
    def __init__(self, model: SmallModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def not_asked(self, retrieval: Retrieval) -> Retrieval:
        return self._fallen_back(retrieval, _NOT_YET)

    async def pick(self, sources: Sources, budget: Budget, counter: TokenCounter) -> Retrieval:
        """Choose the hits of `sources`, which are the heuristic's.

        Raises:
            WindowOverflow: What must be sent does not fit, whatever is recalled.

        """
        retrieval = sources.retrieval
        if not retrieval.candidates:
            return self._fallen_back(retrieval, _NOTHING)
        if is_clear(retrieval):
            return self._fallen_back(retrieval, _CLEAR)
        lines = lines_of(retrieval, sources.history)
        by_scores = await asyncio.to_thread(plan, Mode.JIT, sources, budget, counter)
        if not lacks_any(by_scores, lines):
            return self._fallen_back(retrieval, _NO_CHOICE)
        request = picker_request(sources.draft.content, lines)
        heard = await self._model.ask(request, picker_schema(lines))
        try:
            ids = parse_ids(heard.whole(), lines)
        except JitchatError as error:
            return replace(retrieval, picking=self._picking(heard, _clause(error.what)))
        picking = replace(self._picking(heard), by_scores=by_scores.used)
        return merge_picks(retrieval, ids, picking)

    def _fallen_back(self, retrieval: Retrieval, why: str) -> Retrieval:
        return replace(retrieval, picking=Picking(self.name, why))

    def _picking(self, heard: SmallModelReply, fallback: str = "") -> Picking:
        tokens = heard.input_tokens, heard.output_tokens
        return Picking(self.name, fallback, *tokens, heard.exact, heard.ms, heard.cost)


def lacks_any(window: ContextWindow, turns: Iterable[int]) -> bool:
    """Whether any of the turns is not in the window at full text."""
    kinds = window.kind_of_turns()
    return any(kinds.get(turn, Kind.INDEX) is Kind.INDEX for turn in turns)


def _clause(sentence: str) -> str:
    text = sentence.rstrip(".")
    return text[:1].lower() + text[1:] if text.startswith(("The ", "It ", "Its ", "No ")) else text


MOST_LINES = 50
MOST_PICKS = 12
"""The limit for a model that does not stop; none of LoCoMo's questions needs more than nine."""
KEPT = 2
"""How many of the ranking's best are loaded whatever the model picks, if they reach the floor."""
_REACH = 2_000
"""Characters at the beginning and at the end of a long draft that are shown."""


STANDS_OUT = 0.4
"""If no other turn has this share of the best one's score, there is no doubt. That is so for one in
nine of LoCoMo's questions; 98.8 % of those have evidence among the first six."""


def is_clear(retrieval: Retrieval) -> bool:
    """Whether the best turn stands out from all others, so that there is nothing to choose."""
    scores = sorted((row.score for row in retrieval.candidates), reverse=True)
    return len(scores) > 1 and retrieval.floor <= scores[0] and scores[1] < STANDS_OUT * scores[0]


def picker_schema(lines: Collection[int]) -> dict[str, object]:
    """Describe the answer as a JSON Schema, with keywords that all servers support."""
    schema = json.loads((files(__package__) / "data" / "picker.json").read_text("utf-8"))
    ids = schema["properties"]["ids"]
    ids["items"]["enum"] = sorted(lines)
    ids["maxItems"] = MOST_PICKS
    return dict(schema)


def lines_of(retrieval: Retrieval, history: History) -> dict[int, str]:
    """Write the index lines of the turns in doubt, by position: at most `MOST_LINES`, the best.

    They are in order of position.
    """
    ranked = sorted(retrieval.candidates, key=lambda row: row.rank)
    doubtful = [row for row in ranked if retrieval.is_in_doubt(row.score)]
    lines: dict[int, str] = {}
    for row in doubtful:
        index = history.find(row.turn)
        if index is not None and len(lines) < MOST_LINES:
            lines[row.turn] = index_line(row.entry, history.turns[index])
    return dict(sorted(lines.items()))


def picker_request(draft: str, lines: Mapping[int, str]) -> tuple[Message, ...]:
    """Ask which of the turns of `lines` are relevant to `draft`. No text can escape its fence."""
    draft = both_ends(draft, _REACH, " … ")
    return request_of("picker", message=[f"{draft}\n"], index=list(lines.values()))


def parse_ids(reply: str, offered: Collection[int]) -> frozenset[int]:
    """Read the picks of `{"ids": […]}`, dropping those that were not offered.

    Raises:
        NotAnAnswer: The reply is something else, or no pick is left. An empty choice counts as a
            mistake: the heuristic already has a floor for messages that nothing matches.

    """
    ids = parse_value(reply, "ids", list)
    if not ids:
        raise NotAnAnswer("It picked nothing.")
    picked = frozenset(parse_number(written) for written in ids).intersection(offered)
    if not picked:
        raise NotAnAnswer("It picked no turn of the list.")
    return picked


def merge_picks(retrieval: Retrieval, ids: Collection[int], picking: Picking) -> Retrieval:
    ranked = sorted(retrieval.candidates, key=lambda row: row.rank)
    kept = {row.turn for row in ranked[:KEPT] if row.score >= retrieval.floor}
    reasons = {hit.turn: hit.reason for hit in retrieval.hits}
    reasons |= dict.fromkeys(ids, f"picked by {picking.model}")
    hits = tuple(
        Hit(row.turn, row.score, reasons.get(row.turn, f"rank {row.rank}, kept with the picks"))
        for row in ranked
        if row.turn in ids or row.turn in kept
    )
    return replace(retrieval, hits=hits, beyond=(), picking=picking)
