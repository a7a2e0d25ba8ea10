"""Reading the header of a GGUF file: the figures needed to choose a context size.

The package `gguf` reads the whole vocabulary first, which takes seconds; this reader stops before
it. The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from jitchat.errors import SettingsError

_NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9
_LONGEST = 1 << 20
"""Maximum bytes of a string, and values of a list or of the header, in a valid file."""
_LARGEST = 1 << 31
_HALF = 2
"""Bytes of a number in the KV cache: llama.cpp uses 16-bit floats."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    path: Path
    size: int
    """In bytes."""
    trained_context: int
    """The context size that the model was trained with, in tokens."""
    token_bytes: int
    """Bytes of memory per token of context."""


def read_model_file(path: Path) -> ModelFile:
    """Read the header of a GGUF file.

    Raises:
        SettingsError: The file cannot be read, or is not a GGUF file of a language model.

    """
    try:
        if path.exists() and not path.is_file():
            raise OSError(None, "it is not a file")
        with path.open("rb") as file:
            head = dict(_head(file))
            size = file.seek(0, 2)
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read: {error.strerror or error}.", "Give the path of a GGUF file."
        ) from error
    except (ValueError, struct.error) as error:
        raise _no_model(path) from error
    try:
        return _described(path, size, head)
    except LookupError as error:
        raise _no_model(path) from error


def _no_model(path: Path) -> SettingsError:
    return SettingsError(
        f"{path} is not a GGUF file of a language model.",
        "Give the path of a model file for llama.cpp; its name ends in .gguf.",
    )


def _described(path: Path, size: int, head: Mapping[str, object]) -> ModelFile:
    kind = head["general.architecture"]

    def number(name: str, usual: int | None = None) -> int:
        found = head.get(f"{kind}.{name}", usual)
        if isinstance(found, list) and all(isinstance(each, int) for each in found):
            found = max(found, default=None)  # one value per layer: the largest
        if not isinstance(found, int) or not 0 <= found < _LARGEST:
            raise LookupError(name)
        return found

    heads = number("attention.head_count")  # 0 without attention; then nothing is cached
    width = number("embedding_length") // max(1, heads)
    keys = number("attention.key_length", width) + number("attention.value_length", width)
    layers, kept_heads = number("block_count"), number("attention.head_count_kv", heads)
    context = number("context_length")
    if not context:
        raise LookupError(context)
    return ModelFile(path, size, context, layers * kept_heads * keys * _HALF)


def _head(file: BinaryIO) -> Iterator[tuple[str, object]]:
    """Yield names and values up to the vocabulary, which comes last."""
    magic, _, _, count = struct.unpack("<4sIQQ", _bytes(file, 24))
    if magic != b"GGUF":
        raise ValueError(magic)
    for _ in range(min(count, _LONGEST)):
        name = _string(file)
        if name.startswith("tokenizer."):
            return
        yield name, _value(file, _number(file, "I"))


def _value(file: BinaryIO, kind: int) -> object:
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        return _number(file, _NUMBERS.get(kind, ""))
    inner, count = _number(file, "I"), _number(file, "Q")
    if count > _LONGEST or inner == _ARRAY:
        raise ValueError(count)
    return [_value(file, inner) for _ in range(count)]


def _string(file: BinaryIO) -> str:
    length = _number(file, "Q")
    if length > _LONGEST:
        raise ValueError(length)
    return _bytes(file, length).decode("utf-8", "replace")


def _number(file: BinaryIO, kind: str) -> int:
    """Read a number. Raises struct.error or ValueError if its kind is unknown."""
    (number,) = struct.unpack(f"<{kind}", _bytes(file, struct.calcsize(f"<{kind}")))
    return number  # type: ignore[no-any-return]  # struct's are untyped


def _bytes(file: BinaryIO, count: int) -> bytes:
    read = file.read(count)
    if len(read) < count:
        raise ValueError(count)
    return read
