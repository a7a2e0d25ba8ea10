"""A chat with long answers: prose, lists, code and a table; #4 is the one that is asked about."""

from __future__ import annotations

from jitchat.values import Role, Turn
from tests.support import turn

QUESTION = "which port and how many workers did we choose for the gateway?"
ANSWER = """\
Here is the plan for the move, step by step.

## Preparation

{prose}

## Gateway

The gateway settings that we choose are:

- it listens on port 8443, behind the old proxy
- it runs 12 workers, one a core
- its log goes to the journal

{prose}

## Code

```python
def connect(host):
    return open_socket(host, retries=3)
```

{prose}

## Costs

| part | euros |
|------|------:|
| disks | 410 |
| gateway | 96 |

{prose}
"""
_SAID = (
    "The harbour office keeps the plans in the loft, and nobody has looked at them in years.",
    "Before the summer somebody should repaint the crane, for the salt eats everything.",
    "The old ledger lists forty crates of rope that are no longer there.",
    "On the pier the lamps are of three kinds, and only one of them is still made.",
)


def prose(number: int) -> str:
    """Six paragraphs that say nothing of what is asked about."""
    return "\n\n".join(
        " ".join(f"{said} Note {number}.{at}." for said in _SAID[at % 3 :]) for at in range(6)
    )


def long_talk() -> list[Turn]:
    """A hundred turns; every tenth answer is long."""
    turns = [turn(1, "Let us plan the move of the servers.")]
    for number in range(2, 101):
        said = f"Fine, that is noted as point {number}. " * 3
        if number % 10 == 4:
            said = prose(number)
        if number == 4:
            said = ANSWER.format(prose=prose(number))
        turns.append(turn(number, said, Role.ASSISTANT if number % 2 == 0 else Role.USER))
    return turns
