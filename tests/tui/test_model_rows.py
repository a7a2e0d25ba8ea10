"""Rows of the list of models: their order, their words, and what a typed text means."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from jitchat.providers.catalogue.models import State
from jitchat.tui.dialogs.models import Columns, RowState
from jitchat.tui.key_names import KeyNames
from jitchat.tui.model_rows import (
    NO_MODEL,
    embedder_offer,
    in_order,
    meant_by,
    model_offer,
    rows_of,
    typed_rows,
)
from tests.tui.choices import (
    GROQ,
    LM_STUDIO,
    OLLAMA,
    OPENAI,
    READER,
    every,
    model,
    openrouter,
)

NOW = datetime.now(UTC)
KNOWN = {each.name: each for each in every()}


def test_what_can_be_used_stands_first() -> None:
    names = [each.name for each in in_order(every())]
    assert names == ["reader", "ollama", "openrouter", "groq", "openai", "lmstudio"]


@pytest.mark.parametrize(
    ("choice", "note"),
    [
        (OPENAI, "set OPENAI_API_KEY, or Enter to paste a key"),
        (replace(OPENAI, key_variable=""), "Enter to paste a key"),
        (openrouter(), "3 models, listed 3 days ago"),
        (GROQ, "has a key · Enter lists its models"),
        (replace(GROQ, has_key=False), "Enter lists its models"),
        (OLLAMA, "running here · 2 models"),
        (replace(OLLAMA, models=(), note="No models yet."), "No models yet."),
        (LM_STUDIO, "Nothing answers at http://localhost:1234/v1."),
        (replace(LM_STUDIO, state=State.NOT_LOOKED, note=""), "checking…"),
    ],
)
def test_a_provider_says_what_it_has_or_wants(choice, note: str) -> None:
    assert rows_of(choice, NOW)[0].note == note


def test_the_models_of_one_that_cannot_be_asked_are_not_offered() -> None:
    configured = replace(OPENAI, models=(model("gpt-5-mini"),))
    assert [row.model for row in rows_of(configured, NOW)] == [""]
    assert not rows_of(configured, NOW)[0].is_ready


def test_the_model_in_use_has_a_row_although_no_list_has_it() -> None:
    rows = rows_of(OPENAI, NOW, in_use="o9")
    assert [row.id for row in rows] == [("openai", ""), ("openai", "o9")]


@pytest.mark.parametrize(
    ("found", "figures"),
    [
        (model("m", 400_000, 0.25, 2.0), ("400,000", "0.25", "2.00")),
        (model("m", 8_192, 0.0375, None), ("8,192", "0.0375", "?")),
        (model("m", None, 0.15000000000000002, 1234.5), ("?", "0.15", "1,234.50")),
        (model("m", 1, 0.0, 0.0), ("1", "free", "free")),
        (model("m"), ("?", "?", "?")),
    ],
)
def test_an_unknown_figure_is_a_question_mark_and_never_zero(found, figures) -> None:
    assert rows_of(openrouter(found), NOW)[-1].figures == figures


def test_what_runs_here_has_no_price_but_may_be_loaded() -> None:
    assert [row.figures for row in rows_of(OLLAMA, NOW)[1:]] == [
        ("8,192", "", "loaded"),
        ("?", "", ""),
    ]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("ollama/qwen3:8b", ("ollama", "qwen3:8b")),
        ("qwen3:8b", ("ollama", "qwen3:8b")),
        ("llama", ("ollama", "llama3.2:3b")),
        ("grok", ("openrouter", "x-ai/grok-4")),
        ("mistral FREE", ("openrouter", "mistralai/mistral-small-3.2-24b-instruct:free")),
        ("openai/gpt-5-mini", ("openrouter", "openai/gpt-5-mini")),
        ("groq/any-name", ("groq", "any-name")),
        ("reader", ("reader", "reader")),
        ("openrouter", None),
        ("openrouter/no-such", None),
        ("openai/o9", None),
        ("nothing-like-it", None),
        ("ollama/", None),
    ],
)
def test_a_full_name_or_the_only_one_that_fits_is_meant(text: str, meant) -> None:
    assert meant_by(text, KNOWN) == meant


def test_a_provider_comes_before_a_model_that_is_named_like_it() -> None:
    known = KNOWN | {"openai": replace(OPENAI, state=State.READY)}
    assert meant_by("openai/gpt-5-mini", known) == ("openai", "gpt-5-mini")


def test_a_name_that_no_list_has_is_offered_of_whoever_can_be_asked() -> None:
    rows = list(typed_rows("new-model", KNOWN))
    assert [row.title for row in rows] == [
        "use new-model from Ollama",
        "use new-model from OpenRouter",
        "use new-model from Groq",
    ]


def test_a_name_with_its_provider_is_offered_of_that_one_although_it_wants_a_key() -> None:
    first = next(typed_rows("openai/o9", KNOWN))
    assert (first.id, first.wants_key, first.is_ready) == (("openai", "o9"), True, False)


@pytest.mark.parametrize("text", ["", "  ", "two words", "openrouter", "reader"])
def test_what_cannot_be_a_name_is_not_offered(text: str) -> None:
    assert list(typed_rows(text, KNOWN)) == []


def test_a_listed_name_is_not_offered_once_more() -> None:
    assert ("ollama", "qwen3:8b") not in [row.id for row in typed_rows("qwen3:8b", KNOWN)]


@pytest.mark.parametrize("width", [40, 70, 110])
def test_no_name_or_sentence_is_cut(width: int) -> None:
    columns = Columns(width, 13)
    refusal = RowState(refusal="The provider refused the key (HTTP 401): it is not one. Set it.")
    drawn = [
        (row, columns.line(row, refusal).plain) for each in every() for row in rows_of(each, NOW)
    ]
    for row, text in drawn:
        words = "".join(text.split())
        assert "".join(f"{row.title}{row.note}".split()) in words
        if not row.model:
            assert "".join(refusal.refusal.split()) in words
    lines = [line for _, text in drawn for line in text.splitlines()]
    named = [each.models for each in every()]
    longest = max(len(found.name) for models in named for found in models) + 4
    assert all(len(line) <= max(width, longest) for line in lines)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ([READER, OPENAI, LM_STUDIO], NO_MODEL.format(models="Ctrl+L")),
        ([READER, replace(GROQ, has_key=False)], NO_MODEL.format(models="Ctrl+L")),
        ([READER, OLLAMA], NO_MODEL.format(models="Ctrl+L")),
        ([GROQ], "Groq has a key: press Ctrl+L, then Enter, to list its models."),
        ([openrouter()], "OpenRouter has a key: press Ctrl+L to choose a model."),
        ([GROQ, openrouter()], "Groq, OpenRouter have keys: press Ctrl+L to choose."),
    ],
)
def test_a_newcomer_is_told_what_is_there(choices, sentence: str) -> None:
    assert model_offer(choices, KeyNames()) == sentence
    assert len(sentence) <= 76, "it stands on one line of a small terminal"


def test_the_question_about_a_larger_embedder_names_its_size_and_fits_a_small_terminal() -> None:
    question = embedder_offer(21_692_180, KeyNames())
    assert "22 MB" in question
    assert len(question) <= 76
