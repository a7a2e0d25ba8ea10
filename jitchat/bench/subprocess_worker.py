"""Work in a process of its own, for a process keeps the memory that it once held.

The process begins empty, is sent the name of a function and its arguments as JSON through its
standard input, reports on its standard output how far it is and what was made, a line of JSON
each, and ends with the work.
"""

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from jitchat.children import own_python, start_piped
from jitchat.errors import BenchFailed, JitchatError

Fields = Mapping[str, Any]
"""What JSON can hold."""
Tell = Callable[[int], object]
"""Takes how much was done since it was last told."""
_CHILD = own_python("-c", "from jitchat.bench.subprocess_worker import serve; serve()")


def run_in_child(function: str, arguments: Fields, tell: Tell) -> Any:  # noqa: ANN401  what JSON holds
    """Call `module:function` with `arguments` and a `tell`; what it tells is told on.

    Raises:
        BenchFailed: It failed, or the process was ended.

    """
    child = start_piped(_CHILD, Path(tempfile.gettempdir()))
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018  for mypy
    try:
        with child.stdin:
            child.stdin.write(json.dumps([function, arguments]).encode())
        while isinstance(told := json.loads(child.stdout.readline()), int):
            tell(told)
    except (OSError, ValueError) as error:
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
    return made


def serve() -> None:
    """Do the work that standard input names: numbers, and then a pair of result and failure."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the work prints is no answer

        def send(value: object) -> None:
            print(json.dumps(value), file=output, flush=True)

        function, arguments = json.load(sys.stdin)
        module, name = function.split(":")
        try:
            send((getattr(import_module(module), name)(**arguments, tell=send), None))
        except JitchatError as error:  # its words survive the way between processes
            send((None, (error.what, error.remedy)))
        except Exception as error:  # noqa: BLE001  whatever it is, the user gets a sentence
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            send((None, (f"A defect stopped it ({type(error).__name__} at {place}).",)))
