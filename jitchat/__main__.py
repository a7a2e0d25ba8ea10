"""`python -m jitchat` and the `jitchat` command."""

from jitchat.cli import main

if __name__ == "__main__":
    main()
