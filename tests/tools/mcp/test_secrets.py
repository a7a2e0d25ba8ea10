"""Which values are secrets, and that no way of writing or cutting a text lets one through."""

from __future__ import annotations

import json
from io import BytesIO
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jitchat.tools.mcp.guard import keep_log
from jitchat.tools.mcp.secrets import BLOT, without
from jitchat.tools.mcp.spec import ServerSpec

KEY = "sk-canary-0123456789"


def secrets(environ: dict[str, str] | None = None, **definition: object) -> tuple[str, ...]:
    spec = ServerSpec("a", **{"command": "x", **definition})
    return spec.expanded(environ or {}).secrets


@pytest.mark.parametrize(
    "definition",
    [
        {"env": {"MY_TOKEN": KEY}},
        {"env": {"GH_PAT": KEY}},
        {"env": {"PIN": KEY}},
        {"env": {"AUTH": f"Bearer {KEY}"}},
        {"env": {"PLACE": "${V}"}},
        {"env": {"PLACE": "at ${V}:8080"}},
        {"command": "${V}"},
        {"cwd": "/srv/${V}"},
        {"args": ("run", "${V}")},
        {"args": ("--api-key", KEY)},
        {"args": (f"--api-key={KEY}",)},
        {"args": ("-e", f"TOKEN={KEY}")},
        {"args": ("--header", f"X-Mine: {KEY}")},
        {"args": ("-H", f"Authorization: Bearer {KEY}")},
        {"args": (f"postgres://u:{KEY}@db/x",)},
        {"env": {"DATABASE_URL": f"postgres://u:{KEY}@db/x"}},
        {"env": {"INDEX": f"https://{KEY}@pypi.test/simple"}},
        {"command": "", "url": f"https://u:{KEY}@x.test/mcp"},
        {"command": "", "url": f"https://x.test/mcp?api_key={KEY}"},
        {"command": "", "url": "https://x.test/${V}/mcp"},
        {"command": "", "url": "https://x.test", "headers": {"X-Mine": KEY}},
        {"command": "", "url": "https://x.test", "headers": {"Cookie": f"a=b; session={KEY}; c"}},
        {"command": "", "url": "https://x.test", "headers": {"Authorization": f"Bearer {KEY}"}},
    ],
)
def test_a_secret_is_masked_wherever_it_stands_in_a_definition(definition: dict[str, object]):
    masked = without(secrets({"V": KEY}, **definition), f"it is {KEY}, you know")

    assert masked == f"it is {BLOT}, you know"


@pytest.mark.parametrize(
    ("definition", "environ"),
    [
        ({"env": {"PLACE": "/srv/notes", "LEVEL": "a long sentence"}}, {}),
        ({"env": {"LEVEL": "${LEVEL:-warning-only}"}}, {}),
        ({"args": ("${HOME}/notes",)}, {"HOME": "/home/elisabeth"}),
        ({"env": {"MODE": "${MODE}"}}, {"MODE": "production"}),
        ({"env": {"KEY_FILE": "/etc/keys/server.pem", "AUTH_MODE": "disabled"}}, {}),
        ({"env": {"AUTHOR": "Ada Lovelace 1815", "MONKEY": "short"}}, {}),
        ({"env": {"TOKEN": "1234567", "EMPTY": "${NONE:-}"}}, {}),
        ({"args": ("--token=short", "0123456789")}, {}),
        ({"env": {"DATABASE_URL": "postgres://postgres:postgres@localhost/x"}}, {}),
        ({"command": "", "url": "https://x.test/mcp?page=0123456789"}, {}),
        ({"command": "", "url": "https://x.test", "headers": {"Accept": "application/json"}}, {}),
        ({"command": "", "url": "http://[::1/mcp"}, {}),
    ],
)
def test_paths_plain_words_and_other_values_are_never_masked(
    definition: dict[str, object], environ: dict[str, str]
):
    assert secrets(environ, **definition) == ()


def test_a_key_that_begins_like_a_path_is_masked():
    assert secrets(env={"SECRET": "/wJalrXUtnFEMIK7MDENGbPxRfi"})


@pytest.mark.parametrize("secret", ['pa"ss\\wör d1', "line one 1\nline two 22", "a+b/c=0123"])
def test_a_secret_is_masked_in_each_form_of_writing(secret: str):
    listed = secrets(env={"TOKEN": secret})

    for form in (secret, json.dumps(secret), json.dumps(secret, ensure_ascii=False), quote(secret)):
        for line in secret.splitlines():
            assert line not in without(listed, f"<{form}>")
        assert json.dumps(secret)[1:-1] not in without(listed, f"<{form}>")


SECRETS = ("aab-1234567-cde-8", "xyxyxyxy1", "pass-ü-word")
TEXT = st.lists(st.sampled_from([*SECRETS, *(s[:6] for s in SECRETS), "a", "ü ", "\n", "-"])).map(
    "".join
)


class Written:
    """Keeps what is written to the log of a server."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text


@given(TEXT, st.integers(1, 40))
def test_a_log_is_masked_wherever_its_parts_end(text: str, longest: int):
    log = Written()

    keep_log(BytesIO(text.encode()), log, SECRETS, longest)  # type: ignore[arg-type]

    assert log.text == without(SECRETS, text)
    assert not any(secret in log.text for secret in SECRETS)


def test_a_log_without_secrets_is_kept_as_it_is():
    log = Written()

    keep_log(BytesIO(b"one\ntwo"), log, ())  # type: ignore[arg-type]

    assert log.text == "one\ntwo"
