"""`python -m jitchat` and the `jitchat` command."""

import os
import sys

CLONE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  pathlib is not loaded yet

if __name__ == "__main__" and not sys.flags.safe_path and sys.path[0] != CLONE:
    del sys.path[0]  # `-m` puts the current folder first, whatever Python files are in it

from jitchat.cli import main  # noqa: E402  from the path as it is now

if __name__ == "__main__":
    main()
