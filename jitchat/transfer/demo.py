"""The demo conversation: sixty turns about planning a release."""

import json
from dataclasses import replace
from importlib.resources import files

from jitchat.store.store import ColdStore
from jitchat.values import Conversation

DEMO_ID, DEMO_TITLE = "demo", "Release planning (demo)"


def store_demo(store: ColdStore) -> Conversation:
    # importing the formats takes 30 ms, and the demo is stored only once
    from jitchat.transfer.formats import store_found  # noqa: PLC0415
    from jitchat.transfer.plain import read_plain  # noqa: PLC0415

    text = (files("jitchat.transfer") / "demo.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return store_found(store, replace(read_plain(lines, DEMO_ID)[0], title=DEMO_TITLE))
