"""The results of `bench recall` as JSON and as a table."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from jitchat.bench.output import plain_table
from jitchat.bench.recall import MEASURES, ByCategory, Method, MethodScores
from jitchat.bench.scores import ALL

ASSUMED = (
    "Below each share, its 95 % interval (Wilson), each question treated as independent: those on"
    " one conversation are not quite. jit − best: jit minus the best baseline of the column."
)
_COLUMNS = (
    "category\nmethod", "any@1", "any@6", "any@12", "all@6", "window\nany", "\nall",
    "tokens\nof full",
)  # fmt: skip


def method_fields(reached: ByCategory) -> dict[str, dict[str, object]]:
    """Return each method's figures on all questions, and by category."""
    fields: dict[str, dict[str, object]] = {
        method: _fields(scores) for method, scores in reached[ALL].items()
    }
    for method, written in fields.items():
        written["categories"] = {
            category: _fields(methods[Method(method)])
            for category, methods in reached.items()
            if category != ALL
        }
    return fields


def _fields(scores: MethodScores) -> dict[str, object]:
    return {
        "n": scores.n,
        **{name: share.value for name, share in scores.shares.items()},
        "window_tokens": scores.window_tokens,
        "window_share": scores.window_share,
        "intervals": {name: share.interval for name, share in scores.shares.items()},
    }


def recall_table(title: str, reached: Mapping[str, Mapping[Method, MethodScores]]) -> Table:
    rows: list[Sequence[str]] = []
    for category, methods in reached.items():
        asked = methods[Method.JIT].n
        rows.append([f"{category.replace('_', ' ')} ({asked:,})", *[""] * (len(_COLUMNS) - 1)])
        rows += [_row(method, scores) for method, scores in methods.items()]
        rows.append(_difference(methods))
    return plain_table(title, _COLUMNS, rows, ASSUMED)


def _row(method: Method, scores: MethodScores) -> Sequence[str]:
    shares = [
        f"{share.value:.3f}\n{_short(share.interval[0])}–{_short(share.interval[1])}"
        for share in scores.shares.values()
    ]
    return [f"  {method}", *shares, f"{scores.window_tokens:,.0f}\n{scores.window_share:.1%}"]


def _short(share: float) -> str:
    """Format an end of an interval in three characters."""
    return f"{share:.2f}".removeprefix("0")[:3]


def _difference(methods: Mapping[Method, MethodScores]) -> Sequence[str]:
    baselines = [scores for method, scores in methods.items() if method is not Method.JIT]
    jit = methods[Method.JIT].shares
    best = {name: max(each.shares[name].value for each in baselines) for name in MEASURES}
    return ["  jit − best", *(f"{jit[name].value - best[name]:+.3f}" for name in MEASURES), ""]
