"""What a real engine answers, by each of its routes, as our provider hears it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from jitchat.errors import ContextOverflow, KeyRefused
from jitchat.providers.provider import Finished, Options, ReplyDelta
from jitchat.text.sanitize import for_terminal
from tests.engine.asking import ROUTES, WRONG, ask, provider, said, server_says
from tests.engine.server import KEY, Engine
from tests.engine.tiny_model import BRIEF, THOUGHT

if TYPE_CHECKING:
    from jitchat.values import Usage

pytestmark = pytest.mark.parametrize("route", ROUTES)


async def prompt_tokens(engine: Engine, *texts: str) -> int:
    """The server's own count of what it makes of the messages."""
    messages = [{"role": message.role, "content": message.content} for message in said(*texts)]
    made = await server_says(engine, "/apply-template", {"messages": messages})
    body = {"content": made["prompt"], "add_special": True, "parse_special": True}
    return len((await server_says(engine, "/tokenize", body))["tokens"])


async def test_the_text_comes_piece_by_piece_and_ends_by_itself(engine, route):
    asked = await ask(provider(engine, route), said("Answer briefly."))

    assert asked.error is None
    assert asked.texts == ["Agreed,", " and", " done."]
    assert asked.finished.is_whole
    kinds = [type(piece) for piece in asked.pieces]
    assert kinds.index(ReplyDelta) < kinds.index(Finished)


async def test_the_usage_is_what_the_server_counts_itself(engine, route):
    asked = await ask(provider(engine, route), said("How much is it? Answer briefly."))

    assert asked.usage.input_tokens == await prompt_tokens(
        engine, "How much is it? Answer briefly."
    )
    assert asked.usage.output_tokens == len(asked.texts) + 1, "the end is a token, too"


async def test_what_the_server_still_knows_of_the_prefix_is_reported_as_cached(engine, route):
    first = "A long beginning that two requests of this test share, briefly."
    once = await ask(provider(engine, route), said(first))
    again = await ask(provider(engine, route), said(first, once.text, "And more, briefly."))

    assert once.usage.input_tokens == await prompt_tokens(engine, first)
    shared = once.usage.input_tokens - 1  # its last token stands for `briefly` and is not repeated
    assert shared <= again.usage.cached_tokens < again.usage.input_tokens
    assert again.usage.input_tokens == await prompt_tokens(
        engine, first, once.text, "And more, briefly."
    )


async def test_a_cap_on_the_answer_ends_it_by_length(engine, route):
    asked = await ask(
        provider(engine, route), said("Go on."), Options(temperature=0.0, max_tokens=7)
    )

    assert asked.finished.is_by_length
    assert asked.usage.output_tokens == 7


async def test_an_answer_without_end_fills_the_context_and_is_ended_by_length(engine, route):
    asked = await ask(provider(engine, route), said("Go on for ever."))

    assert asked.error is None
    assert asked.finished.is_by_length
    assert _total(asked.usage) == engine.context


async def test_bytes_that_are_no_text_arrive_as_they_are_and_are_shown_as_pictures(engine, route):
    text = (await ask(provider(engine, route), said("Go on for ever."))).text

    assert set("\x00\x01\x07\x08\x1b\x1c\x7f\r\n\t\ufffd") <= set(text)
    shown = for_terminal(text).cells
    assert set("␀␁␇␈␛␜␡␍\n\t\ufffd") <= set(shown)
    assert not {character for character in shown if ord(character) < 32} - {"\n", "\t"}


async def test_a_window_larger_than_the_context_is_refused_with_both_numbers(engine, route):
    text = "This is said far too often. " * 60
    asked = await ask(provider(engine, route), said(text))

    assert not asked.pieces
    assert isinstance(asked.error, ContextOverflow)
    assert asked.error.limit == engine.context
    assert asked.error.needed == await prompt_tokens(engine, text)


async def test_a_wrong_key_is_refused_and_is_in_no_part_of_the_error(engine, route):
    asked = await ask(provider(engine, route, key=WRONG), said("Answer briefly."))

    assert isinstance(asked.error, KeyRefused)
    assert "401" in asked.error.what
    assert not asked.pieces
    told: BaseException | None = asked.error
    while told is not None:
        assert not {WRONG, KEY} & {*str(told).split(), *repr(told).split("'")}
        told = told.__context__


async def test_thoughts_come_apart_from_the_answer(engine, route):
    asked = await ask(provider(engine, route), said("Give a reason."))

    assert asked.reasoning.strip() == THOUGHT
    assert asked.text.strip() == BRIEF
    assert asked.finished.is_whole
    assert asked.usage.output_tokens == 9, "with both tags and the end"


async def test_the_sampling_that_was_set_is_what_the_engine_uses(engine, route):
    """The model is too sure of itself for a seed to show; the server tells what it used."""
    options = Options(temperature=0.25, top_p=0.5, top_k=7, seed=11, max_tokens=3)
    await ask(provider(engine, route), said("Go on."), options)

    (slot,) = await server_says(engine, "/slots")
    used = slot["params"]
    assert (used["temperature"], used["top_k"]) == (0.25, 7)


def _total(usage: Usage) -> int:
    assert usage.input_tokens is not None
    assert usage.output_tokens is not None
    return usage.input_tokens + usage.output_tokens
