"""The results of `bench observe` as JSON and as a table."""

from dataclasses import asdict

from rich.table import Table

from jitchat.bench.observation import ObservedScores
from jitchat.bench.output import plain_table
from jitchat.bench.proportions import wilson

_COLUMNS = ("questions", "asked", "observe", "recency, same tokens")
_ABOUT = (
    "Shares of questions whose answer's words are in the window, in text from the evidence turn;"
    " below, the 95 % interval (Wilson). Evidence held does not mean that the answer is right."
)


def observe_fields(scores: ObservedScores, limit: int, observer: str) -> dict[str, object]:
    return {"limit": limit, "observer": observer} | asdict(scores)


def observe_table(title: str, scores: ObservedScores) -> Table:
    rows = [
        [name.replace("_", " "), f"{asked:,}", _share(held, asked), _share(last, asked)]
        for name, (asked, held, last) in scores.categories.items()
    ]
    asked = scores.asked
    rows.append(["all", f"{asked:,}", _share(scores.held, asked), _share(scores.recency, asked)])
    observed = scores.observed_asked
    rows.append(["of observed turns", f"{observed:,}", _share(scores.observed_held, observed), ""])
    return plain_table(title, _COLUMNS, rows, _ABOUT)


def observe_lines(scores: ObservedScores, limit: int) -> list[str]:
    """Summarise the windows in lines."""
    return [
        f"windows, limit {limit:,}: at most {scores.largest:.1%} of the limit, 95 % of them up to"
        f" {scores.p95:.1%}; turns and observations only: {scores.largest_history:.1%}",
        f"{scores.conversations:,} conversations, {scores.turns:,} turns: {scores.passes:,} passes,"
        f" {scores.reflections:,} reflections; in {scores.fallbacks:,}, a window fit only after"
        f" turns were observed immediately; {scores.overflows:,} windows did not fit at all",
        f"final observations: {scores.compression:.1f} times smaller than their turns",
    ]


def _share(part: int, whole: int) -> str:
    if not whole:
        return ""
    low, high = wilson(part, whole)
    return f"{part / whole:.1%}\n{low:.1%}–{high:.1%}"
