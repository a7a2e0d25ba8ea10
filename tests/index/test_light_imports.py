"""Importing the memory imports no heavy library: each is loaded when first needed."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.support import ROOT

CODE = """
import json, sys
import jitchat.memory, jitchat.store.replies, jitchat.store.windows
import jitchat.index.embedder, jitchat.index.embedding_models, jitchat.store.store
import jitchat.text.stance, jitchat.text.entities, jitchat.text.dates
print(json.dumps(sorted(sys.modules)))
"""
HEAVY = {"numpy", "sqlite_utils", "fastembed", "wordllama", "huggingface_hub", "asyncio", "httpx"}


def test_the_memory_is_imported_without_what_it_may_need_later():
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(json.loads(done.stdout))


QUIET = """
import logging
import jitchat.index.builtin_embedder
logging.getLogger("httpx").info("a request")
print(logging.getLogger().handlers)
"""


def test_the_built_in_embedder_has_no_library_write_its_log_to_the_screen():
    done = subprocess.run(
        [sys.executable, "-c", QUIET], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
