"""A language model of 70,000 weights, made on the spot, that llama.cpp runs like any other.

What it says depends on nothing but the token before: each token is followed by one other. Where
it begins is chosen by the chat template, from a word in the user's message:

- `briefly`: it says `BRIEF` and ends by itself;
- `reason`: it thinks `THOUGHT`, says `BRIEF` and ends by itself;
- `look up`: it says `LOOKING` and makes `CALLS`, where it is offered tools;
- behind results of tools, one of which holds `FOUND`: it says `BRIEF` and ends by itself;
- else it wanders in a circle through every byte and every word there is, and never ends.
"""

from __future__ import annotations

import string
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "tiny"
BRIEF = "Agreed, and done."
THOUGHT = "First things first."
LOOKING = "Let me look."
FOUND = "crimson"
CALLS = (
    ("request_context", '{"query": "boat"}'),
    ("request_context", '{"turn": "#1"}'),
)

_SPECIAL = (
    "<unk>",
    "<s>",
    "</s>",
    "<|im_start|>",
    "<|im_end|>",
    "<|brief|>",
    "<|reason|>",
    "<|call|>",
)
_TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>")
_BRIEF, _THOUGHT = ("Agreed,", "▁and", "▁done."), ("First", "▁things", "▁first.")
_CALLING = (
    "Let▁me▁look.",
    *("<tool_call>", '\n{"name":▁"request_context",', '▁"arguments":▁{"query":'),
    *('▁"bo', 'at"}}', "\n</tool_call>"),
    *("\n<tool_call>\n", '{"name":▁"request_context",▁', '"arguments":▁{"turn":'),
    *('▁"#', '1"}}\n', "</tool_call>"),
)
"""Each piece is there once, for it is known by itself what follows it."""
_BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_WORDS = ("▁the", "▁of", "▁to", "▁in", "▁a", "▁is", "▁that", "▁for", "▁it", "▁was", "▁with", "▁be")
_CHARACTERS = ("▁", "\n", *string.ascii_letters, *string.digits, *".,!?'\"-:;()[]{}/")
_WANDERING = _BYTES + _WORDS + _CHARACTERS
_SPOKEN = (*_BRIEF, *_THOUGHT, *(piece for piece in _CALLING if piece not in _TAGS))
_VOCABULARY = _SPECIAL + _TAGS + _SPOKEN + _WANDERING
_WIDTH, _HEADS, _INNER = 64, 2, 32
_CERTAINTY = 4.0
"""How far the next token's logit is above the others': sampling cannot miss it."""

_TEMPLATE = """\
{%- set ns = namespace(found=false) -%}
{%- if tools -%}
<|im_start|>system
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|im_end|>
{% endif -%}
{%- for message in messages -%}
{%- if message['role'] == 'tool' -%}
{%- if 'FOUND' in message['content'] -%}{%- set ns.found = true -%}{%- endif -%}
<|im_start|>user
<tool_response>
{{ message['content'] }}
</tool_response><|im_end|>
{% else -%}
<|im_start|>{{ message['role'] }}
{% if message['reasoning_content'] %}<think>{{ message['reasoning_content'] }}</think>{% endif -%}
{{ message['content'] }}
{%- for call in message['tool_calls'] or [] -%}
{%- set called = call['function'] %}
<tool_call>
{"name": "{{ called['name'] }}", "arguments": {{ called['arguments'] | tojson }}}
</tool_call>
{%- endfor -%}
<|im_end|>
{% endif -%}
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% if messages[-1]['role'] == 'tool' and ns.found %}<|brief|>{% endif -%}
{%- if 'briefly' in messages[-1]['content'] %}<|brief|>{% endif -%}
{%- if 'reason' in messages[-1]['content'] %}<|reason|>{% endif -%}
{%- if tools and 'look up' in messages[-1]['content'] %}<|call|>{% endif -%}
{%- endif -%}
""".replace("FOUND", FOUND)


def write_tiny_model(path: Path, context: int) -> None:
    """Write the model as a GGUF file; `context` is what it was trained for, in tokens."""
    from gguf import GGUFWriter

    writer = GGUFWriter(path, "llama")
    writer.add_name(NAME)
    writer.add_context_length(context)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    _add_vocabulary(writer)
    for name, weights in _weights():
        writer.add_tensor(name, weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer) -> None:
    from gguf import TokenType

    kinds = (
        [TokenType.UNKNOWN]
        + [TokenType.CONTROL] * (len(_SPECIAL) - 1)
        + [TokenType.USER_DEFINED] * len(_TAGS)
        + [TokenType.NORMAL] * len(_SPOKEN)
        + [TokenType.BYTE] * len(_BYTES)
        + [TokenType.NORMAL] * len(_WORDS + _CHARACTERS)
    )
    writer.add_vocab_size(len(_VOCABULARY))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(_VOCABULARY)
    writer.add_token_scores([-float(rank) for rank in range(len(_VOCABULARY))])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(_VOCABULARY.index("<s>"))
    writer.add_eos_token_id(_VOCABULARY.index("</s>"))
    writer.add_unk_token_id(_VOCABULARY.index("<unk>"))
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(_TEMPLATE)


def _weights() -> Iterator[tuple[str, object]]:
    """Yield every tensor. The one layer adds nothing, so that the last token alone decides."""
    import numpy as np

    chance = np.random.default_rng(7)
    tokens = chance.standard_normal((len(_VOCABULARY), _WIDTH)).astype(np.float32)
    tokens *= np.sqrt(_WIDTH) / np.linalg.norm(tokens, axis=1, keepdims=True)
    following = np.zeros_like(tokens)
    for before, after in _steps(
        [_WANDERING[place] for place in chance.permutation(len(_WANDERING))]
    ):
        following[_VOCABULARY.index(after)] += (
            _CERTAINTY / np.sqrt(_WIDTH) * tokens[_VOCABULARY.index(before)]
        )
    square, flat = (_WIDTH, _WIDTH), np.ones(_WIDTH, np.float32)
    yield "token_embd.weight", tokens
    for name, shape in {
        "attn_q": square, "attn_k": square, "attn_v": square, "attn_output": square,
        "ffn_gate": (_INNER, _WIDTH), "ffn_up": (_INNER, _WIDTH), "ffn_down": (_WIDTH, _INNER),
    }.items():  # fmt: skip
        yield f"blk.0.{name}.weight", np.zeros(shape, np.float32)
    yield "blk.0.attn_norm.weight", flat
    yield "blk.0.ffn_norm.weight", flat
    yield "output_norm.weight", flat
    yield "output.weight", following


def _steps(circle: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each token with the one that follows it."""
    yield from pairwise(circle)
    yield circle[-1], circle[0]
    yield from pairwise(("<|brief|>", *_BRIEF, "</s>"))
    yield from pairwise(("<|call|>", *_CALLING, "</s>"))
    yield from pairwise(("<|reason|>", "<think>", *_THOUGHT, "</think>", _BRIEF[0]))
