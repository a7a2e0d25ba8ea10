"""An append-only column of numbers that can be read without a copy."""

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Number = TypeVar("_Number", bound=np.generic)


class Growing(Generic[_Number]):
    """Rows of equal width. Capacity doubles; pages not yet written to occupy no memory."""

    def __init__(self, dtype: type[_Number], *width: int) -> None:
        self._data: NDArray[_Number] = np.zeros((64, *width), dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> NDArray[_Number]:
        """A view, valid until the column changes; shape (rows, *width)."""
        return self._data[: self._size]

    def append(self, value: float) -> None:
        self._make_room(self._size + 1)
        self._data[self._size] = value
        self._size += 1

    def extend(self, values: ArrayLike) -> None:
        added = np.asarray(values, dtype=self._data.dtype)
        size = self._size + len(added)
        self._make_room(size)
        self._data[self._size : size] = added
        self._size = size

    def cut(self, size: int) -> None:
        """Keep the first `size` rows."""
        self._size = min(self._size, size)

    def _make_room(self, size: int) -> None:
        room = len(self._data)
        if size > room:
            while size > room:
                room *= 2
            grown = np.zeros((room, *self._data.shape[1:]), dtype=self._data.dtype)
            grown[: self._size] = self.rows
            self._data = grown
