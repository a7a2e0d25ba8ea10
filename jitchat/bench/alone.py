"""Work in a process of its own, for a process keeps the memory that it once held.

The process begins empty, is sent the work through its standard input, tells on its standard
output how far it is and what was made, and ends with the work.
"""

from __future__ import annotations

import os
import pickle
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from jitchat.children import own_python, start_piped
from jitchat.errors import BenchFailed, JitchatError

_Made = TypeVar("_Made")
Tell = Callable[[int], object]
"""Takes how much was done since it was last told."""
_CHILD = own_python("-c", "from jitchat.bench.alone import serve; serve()")


def alone(work: Callable[[Tell], _Made], tell: Tell) -> _Made:
    """Do the `work`, which can be pickled as its result can; what it tells is told on.

    Raises:
        BenchFailed: It failed, or the process was ended.

    """
    child = start_piped(_CHILD, Path(tempfile.gettempdir()))
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018  for mypy
    try:
        with child.stdin:
            child.stdin.write(pickle.dumps(work))
        while isinstance(told := pickle.load(child.stdout), int):  # noqa: S301  our own child's
            tell(told)
    except (EOFError, OSError, pickle.UnpicklingError) as error:
        code = child.wait()
        raise BenchFailed(
            f"The process that measures was ended (exit code {code}).",
            "It may have needed more memory than there is: try fewer turns.",
        ) from error
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    made, failure = told
    if failure is not None:
        raise BenchFailed(*failure)
    result: _Made = made
    return result


def serve() -> None:
    """Do the work that standard input holds: numbers, and then a pair of result and failure."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the work prints is no answer

        def send(value: object) -> None:
            pickle.dump(value, output)
            output.flush()

        send(_done(pickle.load(sys.stdin.buffer), send))  # noqa: S301  from the process above


def _done(work: Callable[[Tell], Any], tell: Tell) -> tuple[Any, tuple[str, ...] | None]:
    """Do it; an error itself does not survive the way between processes, its words do."""
    try:
        return work(tell), None
    except JitchatError as error:
        return None, (error.what, error.remedy)
    except Exception as error:  # noqa: BLE001  whatever it is, the user gets a sentence
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return None, (f"A defect stopped it ({type(error).__name__} at {place}).",)
