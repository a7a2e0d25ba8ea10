"""How well facts are found: `python -m tests.benchmarks.facts [--data FILE …]`.

Of the hand-written messages in `tests/data/facts.toml`: precision and recall of what is proposed,
by sentence and kind, and what was wrong. Of labelled conversations: how many facts are proposed
for 100 turns, and each of them with `--list`.
"""

import argparse
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from jitchat.bench.questions import read_labelled
from jitchat.synthesis.extraction import facts_in
from jitchat.values import Role, Turn

WRITTEN = Path(__file__).parents[1] / "data" / "facts.toml"


@dataclass(frozen=True, slots=True)
class Outcome:
    turns: int
    wanted: int
    proposed: int
    right: int
    wrong: tuple[str, ...]
    """Proposals that are not wanted."""
    missed: tuple[str, ...]

    @property
    def precision(self) -> float:
        return self.right / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0


def of_written(which: str = "turns") -> Outcome:
    """Compare what is found in the hand-written messages with what is wanted of them."""
    rows = tomllib.loads(WRITTEN.read_text("utf-8"))[which]
    wanted: set[tuple[int, str, str]] = set()
    found: set[tuple[int, str, str]] = set()
    for number, (text, *facts) in enumerate(rows, start=1):
        wanted |= {(number, kind, sentence) for kind, sentence in facts}
        turn = Turn(number, Role.USER, text)
        found |= {(number, fact.kind.value, fact.text) for fact in facts_in(turn, "c")}
    wrong, missed = (
        tuple(f"{kind}: {text}" for _, kind, text in sorted(rest))
        for rest in (found - wanted, wanted - found)
    )
    return Outcome(len(rows), len(wanted), len(found), len(wanted & found), wrong, missed)


def _print_labelled(path: Path, *, lists: bool) -> None:
    turns = users = 0
    kinds: Counter[str] = Counter()
    for talk in read_labelled(path):
        for turn in talk.found.turns:
            turns, users = turns + 1, users + (turn.role is Role.USER)
            for fact in facts_in(turn, talk.found.id):
                kinds[fact.kind] += 1
                if lists:
                    print(f"  {fact.kind}: {fact.text}")
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    count = kinds.total()
    print(f"{path.name}: {count} facts of {turns:,} turns ({users:,} of users), {told}")
    print(f"  {100 * count / turns:.2f} for 100 turns, {100 * count / users:.2f} for 100 of users")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, nargs="*", default=())
    parser.add_argument("--list", action="store_true")
    wanted = parser.parse_args()
    for which in ("turns", "unseen"):
        found = of_written(which)
        print(
            f"{which}: {found.turns} messages, {found.wanted} facts: {found.proposed} proposed,"
            f" {found.right} right; precision {found.precision:.2f}, recall {found.recall:.2f}"
        )
        for what, texts in (("wrong", found.wrong), ("missed", found.missed)):
            for text in texts:
                print(f"  {what}: {text}")
    for path in wanted.data:
        _print_labelled(path, lists=wanted.list)


if __name__ == "__main__":
    main()
