"""`python -m jitchat` and the `jitchat` command."""

import os
import signal
import sys

CLONE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  pathlib is not loaded yet

if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0] != CLONE:
    del sys.path[0]  # `-m` puts the current folder first, whatever Python files are in it


def main() -> None:
    """Run the command line; Ctrl+C also works while it is still loading."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, _: os._exit(128 + number))
    from jitchat.cli import main as run  # noqa: PLC0415  not before Ctrl+C is handled

    run()


if __name__ == "__main__":
    main()
