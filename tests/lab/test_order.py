"""A run with a time limit: its order is even at each moment, and it ends in time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab.events import CellEnded, ConversationBegun, RunEnded
from jitchat.lab.experiment import Experiment
from jitchat.lab.facts import Kind
from jitchat.lab.order import Pace, rounds, spread
from jitchat.lab.run_file import Runs
from jitchat.values import USUAL_MODES, Mode
from tests.examples import examples
from tests.lab.support import ForgetfulModel, ended, events_of, lab_on, new_file

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from jitchat.providers.provider import Options, Piece
    from jitchat.values import Message

EXPERIMENT = Experiment((800, 1_600), (0.0, 0.5, 1.0), (Kind.DIRECT, Kind.EXACT), repeats=2)


@examples(40)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 99))
def test_every_place_comes_once_and_each_axis_is_even_at_each_moment(sizes: list[int], seed: int):
    axes = [range(size) for size in sizes]
    seen: list[Counter[int]] = [Counter(dict.fromkeys(axis, 0)) for axis in axes]
    places = list(spread(axes, seed))
    for place in places:
        for at, counted in zip(place, seen, strict=True):
            counted[at] += 1
        assert all(max(each.values()) - min(each.values()) <= 1 for each in seen)
    assert len(places) == len(set(places))
    assert sorted(places) == sorted(spread(axes, seed + 1))


def test_a_round_asks_for_one_fact_in_every_mode():
    listed = list(rounds(EXPERIMENT))
    assert sorted(str(cell) for cells in listed for cell in cells) == sorted(
        map(str, EXPERIMENT.cells())
    )
    for cells in listed:
        assert [cell.mode for cell in cells] == list(USUAL_MODES)
        assert len({(c.length, c.depth, c.kind, c.near, c.repeat) for c in cells}) == 1


def test_what_is_not_measured_yet_is_expected_by_what_is():
    pace = Pace()
    assert pace.expected(Mode.FULL, 1_000) == 0
    pace.take(Mode.FULL, 1_000, 2.0)
    pace.take(Mode.FULL, 1_000, 4.0)
    pace.take(Mode.JIT, 1_000, 5.0)
    assert pace.expected(Mode.FULL, 1_000) == 3.0
    assert pace.expected(Mode.FULL, 4_000) == 12.0
    assert pace.expected(Mode.JIT, 4_000) == 5.0
    assert pace.expected(Mode.RECENCY, 4_000) == 0


class SlowModel(ForgetfulModel):
    """Takes ten seconds of a clock for each answer."""

    now = 0.0

    async def stream(self, messages: Sequence[Message], options: Options) -> AsyncIterator[Piece]:
        async for piece in super().stream(messages, options):
            yield piece
        self.now += 10


async def test_a_run_ends_in_time_evenly_and_goes_on_where_it_was(tmp_path: Path) -> None:
    model = SlowModel(EXPERIMENT, lambda _, __: True)
    file = new_file(tmp_path, EXPERIMENT)
    lab = lab_on(file, model, clock=lambda: model.now)
    lab.within = 125.0
    heard = await events_of(lab)

    cells = [each.result.cell for each in ended(heard)]
    assert len(cells) == 12, "ten seconds each, and no round is begun that would end later"
    assert model.now == 120
    assert heard[-1] == RunEnded(left=EXPERIMENT.size - 12)
    assert Counter(cell.mode for cell in cells) == dict.fromkeys(USUAL_MODES, 4)
    assert Counter(cell.length for cell in cells) == dict.fromkeys(EXPERIMENT.lengths, 6)
    begun = sum(isinstance(each, ConversationBegun) for each in heard)
    assert begun < sum(1 for _ in heard if isinstance(_, CellEnded))
    assert file.run.ended_at is None
    file.close()

    again = Runs(tmp_path).open("r1", to_ask=True)
    lab = lab_on(again, model, clock=lambda: model.now)
    lab.within = 100_000.0
    heard = await events_of(lab)
    assert len(ended(heard)) == EXPERIMENT.size - 12
    assert heard[-1] == RunEnded()
    assert not again.left()
    assert again.run.ended_at is not None
    again.close()
