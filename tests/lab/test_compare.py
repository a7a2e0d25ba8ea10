"""The comparison of two runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitchat.lab.change import Change
from jitchat.lab.compare import compare_runs, left_out
from jitchat.lab.experiment import Verdict
from jitchat.lab.facts import Kind
from jitchat.lab.stats import Tally
from jitchat.values import Mode
from tests.lab.some_results import EXPERIMENT, RUN, results


def later(**changes):
    return replace(RUN, **changes)


def test_only_what_both_have_an_answer_for_is_compared():
    known = [each for each in results(lambda cell: Verdict.WRONG) if each.cell.depth < 1]
    made = compare_runs(RUN, results(), RUN, known)
    assert 48_000 not in made.of[Mode.FULL].at, "the earlier run had no room for it"
    assert made.of[Mode.JIT].at[4_000] == Change(
        Tally(right=14), Tally(wrong=14), ((1, 1, 0),) * 14
    )
    assert (made.compared, made.only_before, made.only_after, made.unanswered) == (174, 48, 0, 18)
    assert left_out(made) == (
        "174 cells compared; left out: 48 only in the earlier run,"
        " 18 without an answer in one of them."
    )


def test_a_run_against_itself_changes_nothing_and_says_so():
    made = compare_runs(RUN, results(), RUN, results())
    changes = [change for each in made.of.values() for _, change in each.named()]
    assert len(changes) == 4 + 5 + 5
    assert {each.points for each in changes} == {0}
    assert not any(each.is_clear for each in changes)
    assert made.differences == ()
    assert left_out(made) == "218 cells compared; left out: 22 without an answer in one of them."


def test_runs_of_other_cells_have_nothing_in_common():
    short = [each for each in results() if each.cell.length == 1_000]
    made = compare_runs(RUN, short, RUN, [each for each in results() if each.cell.length == 4_000])
    assert (made.of, made.compared) == ({}, 0)


@pytest.mark.parametrize(
    ("lost", "gained", "is_clear"),
    [(0, 0, False), (12, 0, True), (1, 3, False), (3, 3, False)],
)
def test_a_change_is_clear_where_its_interval_leaves_no_doubt(lost, gained, is_clear):
    kept = 15 - lost - gained
    was, became = Tally(kept + lost, gained), Tally(kept + gained, lost)
    facts = ((1, 1, 1),) * kept + ((1, 1, 0),) * lost + ((1, 0, 1),) * gained
    assert Change(was, became, facts).is_clear is is_clear


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"model": "other", "provider": "openai"},
            "Model: qwen3-8b of ollama, then other of openai.",
        ),
        ({"model": "reader", "provider": "reader"}, "Model: qwen3-8b of ollama, then reader."),
        ({"limit": 8_192}, "Limit: 32,768, then 8,192."),
        ({"judge": "gpt-5"}, "Judged by: rules, then gpt-5."),
        (
            {"embedder": "none"},
            "Embedder: builtin-256, then none, so retrieval finds different turns.",
        ),
        (
            {"counter": "estimate"},
            "Tokens counted by: o200k_base, then estimate, so lengths differ slightly.",
        ),
        ({"settings": (("window.recent", "8"),)}, "Setting window.recent: 384, then 8."),
        ({"settings": ()}, "Setting window.recent: 384, then not set."),
    ],
)
def test_what_differs_between_two_runs_is_said_in_words(changes, told):
    run = replace(RUN, settings=RUN.settings[:1])
    assert compare_runs(run, [], replace(run, **changes), []).differences == (told,)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": 8}, "Seed: 7, then 8, so the same cell asks for a different fact."),
        ({"conversation": "c9"}, "Talk: made up, then c9."),
        ({"kinds": EXPERIMENT.kinds[:-1]}, "Kinds in the earlier run only: absent."),
        ({"kinds": (*EXPERIMENT.kinds, Kind.EXACT)}, "Kinds in the later run only: exact."),
        ({"depths": (0.0, 1.0)}, "Depths in the earlier run only: 25 %, 50 %, 75 %."),
    ],
)
def test_what_differs_in_what_was_asked_is_said_in_words(changes, told):
    run = later(experiment=replace(EXPERIMENT, **changes))
    assert compare_runs(RUN, [], run, []).differences == (told,)


def test_of_two_providers_only_what_differs_in_their_answers_is_told():
    def of(provider, temperature):
        names = ("name", "base_url", "protocol", "api_key_env", "read_seconds")
        apart = [(f"providers.{provider}.{name}", f'"{provider} {name}"') for name in names]
        rest = [("provider.temperature", "not set"), ("provider.name", f'"{provider}"')]
        known = [(f"providers.{provider}.temperature", temperature), ("window.recent", "384")]
        return {"provider": provider, "settings": (*apart, *rest, *known)}

    was, became = later(**of("work", "0.2")), later(**of("home", "0.7"))
    assert compare_runs(was, [], became, []).differences == (
        "Model: qwen3-8b of work, then qwen3-8b of home.",
        "Setting provider.temperature: 0.2, then 0.7.",
    )
    same = later(**of("home", "0.2"))
    assert compare_runs(was, [], same, []).differences == (
        "Model: qwen3-8b of work, then qwen3-8b of home.",
    )


def test_settings_that_no_figure_depends_on_are_not_told():
    run = later(settings=(*RUN.settings, ("screen.theme", "nord"), ("keys.send", "f5")))
    assert compare_runs(RUN, [], run, []).differences == ()
