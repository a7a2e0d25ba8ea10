"""Turns with code and program output; each question names something in exactly one of them.

The decoys of a kind are made of the same parts; only the turn itself has what is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A turn, questions about it, and similar turns."""

    name: str
    turn: str
    question: str
    decoys: tuple[str, ...] = ()


CODE = (
    Kind(
        "snake_case",
        "For guests `parse_user_id` gives back None, and nobody checks that.",
        "What does parse_user_id give back?",
        ("`user_parse_id` gives back a tuple.", "Give the parser back its user and its id."),
    ),
    Kind(
        "a name of words that say nothing",
        "Use `is_not_there` when the row is gone, it reads better in the filter.",
        "When do we use is_not_there?",
        ("There is a row that is not in use.", "When in use, it is not there."),
    ),
    Kind(
        "camelCase",
        "The retries are in fetchChunkIndex, three levels down.",
        "Where is fetchChunkIndex?",
        ("fetchChunkList has no retries.", "We fetch a chunk, then the index, three levels up."),
    ),
    Kind(
        "dotted name",
        "Switch on `sync.delta_blocks` in the admin panel, folder by folder.",
        "Where do I switch on sync.delta_blocks?",
        ("Switch on `delta.sync_blocks` in the panel.", "The sync of blocks sends a delta."),
    ),
    Kind(
        "long flag",
        "With --no-verify the hook is skipped, which is how the typo got in.",
        "What happened with --no-verify?",
        ("With --verify the hook runs twice.", "Verify the typo in the hook, please."),
    ),
    Kind(
        "flag of one word",
        "Never use --force on that branch, two people work on it.",
        "On which branch must I not use --force?",
        ("They use force on every branch of the hedge.", "Work on the branch by force of habit."),
    ),
    Kind(
        "path",
        "The old upstream is still in /etc/nginx/sites-enabled/api.conf.",
        "What is in /etc/nginx/sites-enabled/api.conf?",
        ("Nothing is in /etc/nginx/api.conf/sites-enabled yet.", "See /etc/sites-enabled/nginx."),
    ),
    Kind(
        "path on Windows",
        r"It writes its cache to C:\Users\Nadia\AppData\Local\Harbor.",
        r"What is written to C:\Users\Nadia\AppData\Local\Harbor?",
        (r"It writes to C:\Users\Nadia\Local\Harbor\AppData.", r"C:\Harbor\Users\Nadia is empty."),
    ),
    Kind(
        "version",
        "Production runs Python 3.11.4 because of the image.",
        "Who runs Python 3.11.4?",
        ("CI runs Python 3.4.11, I fear.", "Laptops run Python 4.3.11, allegedly.", "Python 3.11!"),
    ),
    Kind(
        "commit",
        "It broke with commit 7f3a91c2, on a Friday.",
        "What happened with 7f3a91c2?",
        ("It broke with commit 7f3a91c3, on a Monday.", "Commit 91c27f3a is fine."),
    ),
    Kind(
        "UUID",
        "The stuck job is 6ba7b810-9dad-11d1-80b4-00c04fd430c8.",
        "What about 6ba7b810-9dad-11d1-80b4-00c04fd430c8?",
        ("The job 6ba7b810-11d1-9dad-80b4-00c04fd430c8 is done.",),
    ),
    Kind(
        "error code",
        "The compiler says E0308, mismatched types, in the last arm.",
        "Where did we see E0308?",
        ("The compiler says E0803 in the first arm.", "E03 is the fault of the heating."),
    ),
    Kind(
        "error code with a hyphen",
        "The nightly import ended with ORA-00942, the view was dropped.",
        "Why did we see ORA-00942?",
        ("ORA-00924 came up in the nightly import.", "Page 00942 has nothing on ORA."),
    ),
    Kind(
        "account number",
        "Please transfer the deposit to DE89 3704 0044 0532 0130 00.",
        "What goes to DE89 3704 0044 0532 0130 00?",
        ("Rent goes to DE98 3704 0044 0523 0130 00.", "Transfer 3704 and then 0044."),
    ),
    Kind(
        "e-mail address",
        "Invoices go to ann.lee@harbor.example from now on.",
        "What goes to ann.lee@harbor.example?",
        ("Complaints go to lee.ann@harbor.example.", "Ann goes to the harbor with Lee."),
    ),
    Kind(
        "URL",
        "The steps are at https://docs.harbor.example/v2/setup?step=4#disk.",
        "What is at https://docs.harbor.example/v2/setup?",
        ("The rest is at https://docs.harbor.example/setup/v2.", "The docs of setup v2 are old."),
    ),
    Kind(
        "date",
        "The certificate was renewed on 2026-03-06.",
        "What was renewed on 2026-03-06?",
        ("The lease was renewed on 2026-06-03.", "On 03-2026-06 nothing was renewed."),
    ),
    Kind(
        "name of a language",
        "The importer is written in C++ and nobody dares to touch it.",
        "Which part is written in C++?",
        ("The exporter is written in C# by the same man.", "The parser is written in C."),
    ),
    Kind(
        "JSON",
        '{"tenant": "T-4471", "quota_gb": 250, "max_retries": 7}',
        "What is max_retries for T-4471?",
        ('{"tenant": "T-4417", "max_quota": 250, "gb_retries": 7}',),
    ),
    Kind(
        "SQL",
        "SELECT id FROM orders_archive WHERE paid_at IS NULL ORDER BY id;",
        "What do we select from orders_archive?",
        ("SELECT id FROM archive_orders;", "Orders go to the archive once paid."),
    ),
    Kind(
        "Rust path",
        "let (tx, rx) = std::sync::mpsc::channel(); // one per worker",
        "What runs over std::sync::mpsc?",
        ("use sync::mpsc::std; // does not compile", "Sync the std of mpsc."),
    ),
    Kind(
        "C with pointers",
        "if (buf->len_used > cap) free_chunks(buf);",
        "Where is free_chunks called?",
        ("if (chunks_free(buf)) return 0;", "Free the chunks of memory at the end of the loop."),
    ),
    Kind(
        "sum of a file",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855: empty",
        "Which is e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855?",
        ("sha256 d3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855: full",),
    ),
)

TRACES = (
    Kind(
        "Python traceback",
        "Traceback (most recent call last):\n"
        '  File "/srv/harbor/sync/blocks.py", line 212, in split_chunk\n'
        "    return index[chunk_hash]\n"
        "KeyError: 'chunk_hash'",
        "What was raised in split_chunk?",
        (
            "Traceback (most recent call last):\n"
            '  File "/srv/harbor/sync/blocks.py", line 221, in chunk_split\n'
            "KeyError: 'hash_chunk'",
        ),
    ),
    Kind(
        "Java stack trace",
        'Exception in thread "main" java.lang.IllegalStateException: closed\n'
        "\tat com.acme.billing.InvoiceService.close(InvoiceService.java:214)\n"
        "\tat com.acme.billing.Nightly.run(Nightly.java:31)\n"
        "\t... 12 more",
        "What failed in com.acme.billing.InvoiceService.close?",
        (
            "java.lang.NullPointerException\n"
            "\tat com.acme.billing.close.InvoiceService(InvoiceService.java:412)\n"
            "\tat com.acme.billing.Daily.run(Daily.java:31)",
        ),
    ),
    Kind(
        "Rust panic",
        "thread 'main' panicked at src/index.rs:88:14:\n"
        "called `Option::unwrap()` on a `None` value\nnote: run with `RUST_BACKTRACE=1`",
        "Why did it panic at src/index.rs:88:14?",
        ("thread 'main' panicked at src/index.rs:14:88:\nindex out of bounds",),
    ),
    Kind(
        "Markdown table",
        "| tenant | plan | seats |\n|---|---|---|\n| NW-2041 | gold | 200 |\n| PP-0006 | - | 6 |",
        "How many seats has NW-2041?",
        ("| tenant | plan | seats |\n|---|---|---|\n| NW-2014 | gold | 2 |\n| PP-2041 | - | 3 |",),
    ),
    Kind(
        "log line",
        "2026-03-09T10:52:11Z WARN harbor.sync.queue oldest_item_age=4311s depth=7",
        "What was oldest_item_age?",
        ("2026-03-09T10:52:41Z INFO harbor.sync.queue item_age_oldest=11s depth=7",),
    ),
)
