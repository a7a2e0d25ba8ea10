"""What compaction saves on ten outputs as tools give them, and whether it keeps what is asked for.

`python -m tests.benchmarks.gate [SEED …]`. Each output is made anew of a seed: logs, tables, JSON,
transcripts, a stack trace. The instruction asks for three facts in words of its own; a fact is kept
if its value, which stands in the output once, is in the extract.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass

from jitchat.tools.extracting import extract
from jitchat.window.tokens import EstimateCounter

NAMES = [
    "Ada",
    "Bo",
    "Cyra",
    "Dion",
    "Elif",
    "Femi",
    "Gus",
    "Hana",
    "Ivo",
    "Jun",
    "Kofi",
    "Lena",
    "Mara",
    "Nils",
    "Odile",
    "Pia",
]
SERVICES = [
    "auth",
    "billing",
    "cache",
    "gateway",
    "indexer",
    "mailer",
    "orders",
    "search",
    "stock",
    "users",
]
CITIES = [
    "Aarhus",
    "Bergen",
    "Cadiz",
    "Dakar",
    "Erfurt",
    "Faro",
    "Ghent",
    "Haifa",
    "Izmir",
    "Jena",
    "Kiel",
    "Lagos",
]
LIMIT = 4_000


@dataclass(frozen=True)
class Output:
    name: str
    text: str
    instruction: str
    facts: tuple[str, ...]


def server_log(rng: random.Random) -> Output:
    lines = []
    for n in range(900):
        service, ms = rng.choice(SERVICES), rng.randint(2, 90)
        at = f"2026-03-{n // 60 % 28 + 1:02}T{n % 24:02}:{n % 60:02}:{rng.randint(10, 59)}Z"
        lines.append(f"{at} INFO  [{service}] request {rng.getrandbits(32):08x} done in {ms} ms")
    port, user, code = rng.randint(20_000, 60_000), rng.choice(NAMES), rng.getrandbits(24)
    lines[rng.randint(100, 300)] = (
        f"2026-03-09T04:11:17Z ERROR [gateway] cannot bind to port {port}: address already in use"
    )
    lines[rng.randint(310, 600)] = (
        f"2026-03-09T04:19:40Z WARN  [auth] user {user} locked after 5 failed logins"
    )
    lines[rng.randint(610, 890)] = (
        f"2026-03-09T05:02:08Z INFO  [indexer] rebuild finished, snapshot {code:06x}"
    )
    asked = "Extract the port that could not be bound, which user was locked, the rebuild snapshot"
    return Output("server log", "\n".join(lines), asked, (str(port), user, f"{code:06x}"))


def access_log(rng: random.Random) -> Output:
    lines = []
    for _ in range(800):
        ip = ".".join(str(rng.randint(1, 254)) for _ in range(4))
        path = f"/{rng.choice(SERVICES)}/{rng.randint(1, 999)}"
        lines.append(f'{ip} - - "GET {path} HTTP/1.1" 200 {rng.randint(200, 9_000)}')
    ip = f"203.0.113.{rng.randint(1, 254)}"
    size, other = rng.randint(10**7, 10**8), rng.randint(10**4, 10**5)
    lines[rng.randint(50, 250)] = f'{ip} - - "POST /admin/reset HTTP/1.1" 403 {other}'
    lines[rng.randint(260, 500)] = f'10.0.0.9 - - "GET /exports/archive.tar HTTP/1.1" 200 {size}'
    agent = f"sqlmap/{rng.randint(1, 9)}.{rng.randint(10, 99)}"
    lines[rng.randint(510, 790)] = f'10.0.0.7 - - "GET /login HTTP/1.1" 401 512 "{agent}"'
    asked = "who tried /admin/reset; the size of the archive export; the agent at /login"
    return Output("access log", "\n".join(lines), asked, (ip, str(size), agent))


def csv_table(rng: random.Random) -> Output:
    rows = ["order,customer,city,units,total_eur,status"]
    rows += [
        f"ORD-{n:05},{rng.choice(NAMES)},{rng.choice(CITIES)},{rng.randint(1, 40)},"
        f"{rng.uniform(5, 900):.2f},shipped"
        for n in range(700)
    ]
    first, second, third = (f"{rng.uniform(1_000, 9_000):.2f}" for _ in range(3))
    rows[120] = f"ORD-00119,Quentin,Oslo,7,{first},returned"
    rows[333] = f"ORD-00332,Ravi,Turku,3,{second},disputed"
    rows[610] = f"ORD-00609,Sol,Vilnius,9,{third},shipped"
    asked = "the returned order, the disputed order and the total of ORD-00609"
    return Output("CSV table", "\n".join(rows), asked, (first, second, third))


def markdown_table(rng: random.Random) -> Output:
    rows = ["| host | region | cpu % | uptime days | kernel |", "|---|---|---|---|---|"]
    for n in range(400):
        cpu, days = rng.randint(1, 60), rng.randint(1, 300)
        rows.append(f"| node-{n:03} | {rng.choice(CITIES)} | {cpu} | {days} | 6.6.{n % 40} |")
    kernel, days, cpu = f"5.4.{rng.randint(100, 300)}", rng.randint(900, 2_000), 99
    rows[90] = f"| db-primary | Oulu | 41 | {days} | 6.6.1 |"
    rows[200] = f"| legacy-print | Malmo | 3 | 12 | {kernel} |"
    rows[380] = f"| render-7 | Riga | {cpu}.{rng.randint(1, 9)} | 8 | 6.6.4 |"
    asked = "uptime of db-primary, kernel of legacy-print, cpu of render-7"
    return Output(
        "Markdown table", "\n".join(rows), asked, (str(days), kernel, rows[380].split()[5])
    )


def json_records(rng: random.Random) -> Output:
    issues = [
        {
            "id": n,
            "title": f"{rng.choice(SERVICES)} is slow in {rng.choice(CITIES)}",
            "state": "open",
            "assignee": rng.choice(NAMES),
            "labels": ["performance"],
        }
        for n in range(350)
    ]
    pull, who, milestone = rng.randint(5_000, 9_000), "Wanda", f"v{rng.randint(10, 90)}.2"
    issues[77] |= {"title": "Login page crashes on Safari", "assignee": who}
    issues[180] |= {"title": "Invoices are rounded twice", "fixed_by": f"#{pull}"}
    issues[300] |= {"title": "Dark theme loses focus ring", "milestone": milestone}
    asked = (
        "Who has the Safari crash of the login page? What fixed the rounding of invoices?"
        " The milestone of the focus ring in the dark theme."
    )
    text = json.dumps({"total": 350, "issues": issues}, indent=2)
    return Output("JSON records", text, asked, (who, f"#{pull}", milestone))


def json_nested(rng: random.Random) -> Output:
    def service(name: str) -> dict:
        return {
            "image": f"registry.local/{name}:{rng.getrandbits(40):010x}",
            "replicas": rng.randint(1, 9),
            "env": {f"{name.upper()}_{key}": str(rng.randint(1, 999)) for key in "ABCDEFGH"},
            "limits": {"cpu": f"{rng.randint(1, 8)}", "memory": f"{rng.randint(1, 64)}Gi"},
        }

    names = [f"{one}-{two}" for one in SERVICES for two in ("api", "worker", "cron", "web")]
    tree = {"cluster": {"name": "north", "services": {name: service(name) for name in names}}}
    services = tree["cluster"]["services"]
    memory, image, secret = f"{rng.randint(100, 900)}Gi", f"{rng.getrandbits(40):010x}", "q7"
    services["search-worker"]["limits"]["memory"] = memory
    services["mailer-cron"]["image"] = f"registry.local/mailer-cron:{image}"
    secret = f"{rng.getrandbits(32):08x}"
    services["orders-web"]["env"]["SESSION_SALT"] = secret
    asked = "memory limit of search-worker, image of mailer-cron, SESSION_SALT of orders-web"
    return Output("JSON, nested", json.dumps(tree, indent=2), asked, (memory, image, secret))


def transcript(rng: random.Random) -> Output:
    talk = "the roadmap", "the hiring plan", "the office move", "support load", "the newsletter"
    lines = []
    for n in range(420):
        who, what = rng.choice(NAMES), rng.choice(talk)
        lines.append(f"[00:{n // 60:02}:{n % 60:02}] {who}: I think {what} needs another week, no?")
    amount, day, city = rng.randint(20, 90) * 1_000, rng.randint(2, 28), rng.choice(CITIES)
    lines[100] = f"[00:01:40] Yusuf: So we agreed, the marketing budget is {amount} euros."
    lines[222] = f"[00:03:42] Zora: The launch is moved to {day} September, everybody noted that?"
    lines[350] = f"[00:05:50] Yusuf: And the offsite will be in New{city.lower()}."
    asked = "marketing budget agreed on; new launch date; where the offsite will be"
    facts = (str(amount), f"{day} September", f"New{city.lower()}")
    return Output("transcript", "\n".join(lines), asked, facts)


def test_run(rng: random.Random) -> Output:
    lines = [
        f"tests/{rng.choice(SERVICES)}/test_{n}.py::test_case_{n} PASSED [{n * 100 // 900:3}%]"
        for n in range(900)
    ]
    got, line, slow = rng.randint(1_000, 9_999), rng.randint(20, 400), rng.uniform(30, 90)
    lines.insert(400, "tests/stock/test_sums.py::test_rounding FAILED [ 44%]")
    lines += [
        "=== FAILURES ===",
        "___ test_rounding ___",
        "    def test_rounding():",
        "        total = sum_of(BASKET)",
        ">       assert total == 4200",
        f"E       assert {got} == 4200",
        f"tests/stock/test_sums.py:{line}: AssertionError",
        f"slowest: tests/search/test_9.py::test_case_9 {slow:.2f}s call",
        "=== 1 failed, 900 passed ===",
    ]
    asked = "Which line failed in test_sums.py, the value that was asserted, the slowest test call"
    facts = (f"test_sums.py:{line}", f"assert {got}", f"{slow:.2f}s")
    return Output("test run", "\n".join(lines), asked, facts)


def stack_traces(rng: random.Random) -> Output:
    def trace(name: str, message: str) -> list[str]:
        frames = [
            f"    at com.shop.{rng.choice(SERVICES)}.Worker.run(Worker.java:{rng.randint(9, 900)})"
            for _ in range(12)
        ]
        return [f"2026-04-01 ERROR {name}: {message}", *frames]

    lines = []
    for n in range(60):
        lines += trace("java.lang.IllegalStateException", f"job {n} was cancelled")
    table, key, host = f"stock_{rng.getrandbits(20):05x}", rng.randint(10**6, 10**7), "db"
    host = f"db-{rng.randint(10, 99)}.internal"
    lines[130:130] = trace("java.sql.SQLException", f"deadlock on table {table}")
    lines[400:400] = trace("java.io.IOException", f"disk quota exceeded, inode {key}")
    lines[650:650] = trace("java.net.UnknownHostException", host)
    asked = "the table of the deadlock, the inode of the disk quota, the unknown host"
    return Output("stack traces", "\n".join(lines), asked, (table, str(key), host))


def page(rng: random.Random) -> Output:
    filler = (
        "The harbour keeps regular hours, and visitors are asked to follow the marked paths.",
        "Guided walks start at the gate and take about an hour in good weather.",
        "Please mind the cranes, which move without a warning when the wind is strong.",
    )
    paragraphs = [
        f"{rng.choice(filler)} {rng.choice(filler)} {rng.choice(filler)}" for _ in range(160)
    ]
    fee, phone, year = (
        rng.randint(11, 99),
        f"+47 555 {rng.randint(1000, 9999)}",
        rng.randint(1801, 1899),
    )
    paragraphs[30] = f"Mooring costs {fee} kroner a metre and night, paid at the office."
    paragraphs[80] = f"In an emergency call the harbour master's telephone, {phone}, at any hour."
    paragraphs[140] = f"The lighthouse was built in {year} by Norwegian masons."
    asked = "the mooring fee, the telephone of the harbour master, when the lighthouse was built"
    return Output("web page", "\n\n".join(paragraphs), asked, (f"{fee} kroner", phone, str(year)))


OUTPUTS: tuple[Callable[[random.Random], Output], ...] = (
    server_log,
    access_log,
    csv_table,
    markdown_table,
    json_records,
    json_nested,
    transcript,
    test_run,
    stack_traces,
    page,
)


@dataclass(frozen=True)
class Measured:
    name: str
    whole: int
    kept: int
    facts: int
    of: int

    @property
    def saved(self) -> float:
        return 1 - self.kept / self.whole


def measured(seed: int) -> list[Measured]:
    counter, found = EstimateCounter(), []
    for make in OUTPUTS:
        output = make(random.Random(f"{make.__name__} {seed}"))
        text, _ = extract(output.text, output.instruction, LIMIT, counter)
        kept = sum(fact in text for fact in output.facts)
        whole = counter.count(output.text)
        found.append(Measured(output.name, whole, counter.count(text), kept, len(output.facts)))
    return found


def main(seeds: list[int]) -> None:
    for seed in seeds:
        rows = measured(seed)
        print(f"seed {seed}")
        for row in rows:
            print(
                f"  {row.name:<16}{row.whole:>8,} → {row.kept:>6,}  {row.saved:>4.0%} saved"
                f"  {row.facts} of {row.of} facts"
            )
        whole, kept = sum(row.whole for row in rows), sum(row.kept for row in rows)
        all_kept = sum(row.facts == row.of for row in rows)
        print(
            f"  {'all':<16}{whole:>8,} → {kept:>6,}  {1 - kept / whole:>4.0%} saved"
            f"  everything asked for is kept in {all_kept} of {len(rows)}"
        )


if __name__ == "__main__":
    main([int(seed) for seed in sys.argv[1:]] or [1])
