"""Which facts are in which conversation: every cell once, the same facts at each length."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.lab.experiment import PRESETS, Experiment, preset
from jitchat.lab.facts import Kind
from jitchat.lab.planting import SHARE, ConversationPlan, fact_tokens, plans
from jitchat.lab.run_file import fields_of, read
from jitchat.values import Mode
from tests.examples import examples
from tests.lab.support import price

quick = examples(10)


def experiments() -> st.SearchStrategy[Experiment]:
    def ascending(values: st.SearchStrategy[float], most: int) -> st.SearchStrategy[tuple]:
        lists = st.lists(values, min_size=1, max_size=most, unique=True)
        return lists.map(lambda found: tuple(sorted(found)))

    return st.builds(
        Experiment,
        lengths=ascending(st.integers(200, 20_000), 3),
        depths=ascending(st.floats(0, 1), 13),
        kinds=st.lists(st.sampled_from(Kind), min_size=1, unique=True).map(tuple),
        modes=st.lists(st.sampled_from(Mode), min_size=1, unique=True).map(tuple),
        repeats=st.integers(1, 2),
        seed=st.integers(0, 9),
    )


@quick
@given(experiments())
def test_every_cell_of_an_experiment_is_asked_once(experiment: Experiment) -> None:
    asked = [cell for talk in plans(experiment, price) for cell, _ in talk.cells(experiment.modes)]

    assert len(asked) == len(set(asked)) == experiment.size
    assert set(asked) == set(experiment.cells())


@quick
@given(experiments())
def test_a_talk_has_no_fact_twice_and_is_mostly_filler(experiment: Experiment) -> None:
    for talk in plans(experiment, price):
        names = [each.fact.name for each in talk.facts]
        sizes = [fact_tokens(each.fact, price) for each in talk.facts]

        assert len(names) == len(set(names))
        assert len(sizes) == 1 or sum(sizes) <= talk.length * SHARE


def facts_of(experiment: Experiment, length: int) -> dict[tuple[Kind, float, int], object]:
    return {
        (each.fact.kind, each.depth, talk.repeat): each.fact
        for talk in plans(experiment, price)
        if talk.length == length
        for each in talk.facts
    }


def test_a_question_meets_the_same_fact_at_each_length_and_another_one_at_each_repeat() -> None:
    experiment = Experiment((500, 4_000), (0.0, 0.5, 1.0), repeats=2)

    short, long = facts_of(experiment, 500), facts_of(experiment, 4_000)

    assert short == long
    assert len(set(map(repr, short.values()))) == len(short)


def test_another_seed_gives_other_facts() -> None:
    one, other = (Experiment((900,), (0.5,), seed=seed) for seed in (1, 2))

    assert list(plans(one, price)) == list(plans(one, price))
    assert list(plans(one, price)) != list(plans(other, price))


def test_cells_are_asked_mode_by_mode_so_that_a_server_can_cache() -> None:
    experiment = Experiment((9_000,), (0.0, 1.0))
    (talk,) = plans(experiment, price)
    assert isinstance(talk, ConversationPlan)

    modes = [cell.mode for cell, _ in talk.cells(experiment.modes)]

    assert modes == sorted(modes, key=list(Mode).index)


@pytest.mark.parametrize("provider", ["reader", "openai", "local"])
@pytest.mark.parametrize("name", PRESETS)
def test_an_experiment_is_the_same_after_being_kept_as_plain_data(name: str, provider: str) -> None:
    found = preset(name, provider)

    assert found.preset == name
    assert read(Experiment, json.loads(json.dumps(fields_of(found)))) == found
    assert found.size == len(list(found.cells()))


def test_no_fact_of_a_talk_says_the_answer_of_another() -> None:
    for seed in range(6):
        for talk in plans(Experiment((20_000,), (0.0, 0.25, 0.5, 0.75, 1.0), seed=seed), price):
            facts = [each.fact for each in talk.facts if each.fact.kind is not Kind.COUNTING]
            for fact in facts:
                said = [s.text for other in facts if other is not fact for s in other.sayings]
                words = " ".join(said).casefold().replace(",", " ").replace(".", " ").split()
                assert not {form.casefold() for form in fact.accepted} & set(words)
