"""Exports with everything that the programs are known to write, each as a file's content."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from tests.transfer.exports import (
    LLM_NEW,
    LLM_OLD,
    PNG,
    PNG_URL,
    chatgpt,
    chatgpt_node,
    claude,
    claude_message,
    gemini_entry,
    make_database,
)

if TYPE_CHECKING:
    from pathlib import Path

NO_MESSAGE = "00000000-0000-4000-8000-000000000000"
PNG_DATA = b64encode(PNG).decode()


def source(number: int, **more: Any) -> dict[str, Any]:
    """A web page that ChatGPT refers to."""
    return {
        "title": f"Tides, page {number}",
        "url": f"https://tides.example/page-{number}?utm_source=chatgpt.com",
        "attribution": "tides.example",
        "snippet": f"What page {number} says of tides.",
        "pub_date": None,
        "refs": [{"turn_index": 0, "ref_type": "search", "ref_index": number}],
        **more,
    }


def chatgpt_search() -> dict[str, Any]:
    """A search with reasoning, marked spans, sources of several kinds, and a quoted reply."""
    cite = "\ue200cite\ue202turn0search1\ue202turn0search2\ue201"
    reply = (
        "\ue203The harbour of \ue200entity\ue202"
        '["city","Saint-Malo","a port in Brittany"]\ue201 has high tides.\ue204 '
        f"{cite}\ue206\n\nSee \ue200url\ue202the tables\ue202https://tides.example/tables\ue201,"
        " \ue200url\ue202the page\ue202turn0search4\ue201, and 【3†source】."
        ' \ue200image_group\ue202{"query":["low tide","high tide"]}\ue201'
    )
    references = [
        {"type": "grouped_webpages", "matched_text": cite, "start_idx": 60, "end_idx": 90,
         "alt": "([tides.example](https://tides.example/page-1))", "status": "done",
         "items": [source(1, supporting_websites=[source(3)]), source(2)],
         "safe_urls": ["https://tides.example/page-1?utm_source=chatgpt.com"]},
        {"type": "webpage_extended", "matched_text":
         "\ue200url\ue202the page\ue202turn0search4\ue201", "items": [source(4)]},
        {"type": "hidden", "matched_text": "\ue203", "refs": ["hidden"]},
        {"type": "sources_footnote", "matched_text": " ", "sources": [source(5)]},
    ]  # fmt: skip
    citations = [{
        "start_ix": 9, "end_ix": 12, "citation_format_type": "tether_og",
        "metadata": {"type": "webpage", "title": "An old page", "text": "What it says.",
                     "url": "https://old.example/page", "pub_date": None},
    }]  # fmt: skip
    group = {"type": "search_result_group", "domain": "tides.example", "entries": [
        {"type": "search_result", "url": "https://tides.example/other", "title": "Another page",
         "snippet": "Not cited.", "attribution": "tides.example"}]}  # fmt: skip
    thoughts = {"content_type": "thoughts", "source_analysis_msg_id": "t1", "thoughts": [
        {"summary": "Looking for a port", "content": "Saint-Malo is one.", "chunks": [],
         "finished": True}]}  # fmt: skip
    recap = {"content_type": "reasoning_recap", "content": "Thought for 12 seconds"}
    metadata = {
        "model_slug": "gpt-5", "default_model_slug": "auto", "resolved_model_slug": "gpt-5-2",
        "message_type": "next", "request_id": "9a-FRA", "parent_id": "r1", "timestamp_": "absolute",
        "finish_details": {"type": "stop", "stop_tokens": [1]}, "is_complete": True,
        "search_result_groups": [group], "safe_urls": ["https://tides.example/tables"],
        "search_queries": [{"type": "search", "q": "tides of Brittany"}],
        "content_references": references, "citations": citations, "turn_exchange_id": "e1",
        "code_blocks": {"0": {"id": "x7", "edited": False}},
    }  # fmt: skip
    asked = {
        "targeted_reply": "It depends on the moon.", "system_hints": ["search"],
        "request_id": "9b-FRA", "message_source": None, "timestamp_": "absolute",
        "serialization_metadata": {"custom_symbol_offsets": []},
    }  # fmt: skip
    return chatgpt(
        chatgpt_node("client-created-root", None, None),
        chatgpt_node("u1", "client-created-root", "user", text="Where are they high?", at=1.0,
                     metadata=asked, status="finished_successfully", channel=None),
        chatgpt_node("t1", "u1", "assistant", content=thoughts, at=2.0,
                     metadata={"reasoning_status": "is_reasoning"}),
        chatgpt_node("r1", "t1", "assistant", content=recap, at=3.0,
                     metadata={"reasoning_status": "reasoning_ended"}),
        chatgpt_node("a1", "r1", "assistant", text=reply, at=4.0, metadata=metadata,
                     status="finished_successfully", channel="final", end_turn=True),
        chatgpt_node("u2", "a1", "user", text="And why?", at=5.0),
        chatgpt_node("t2", "u2", "assistant", at=6.0, content={
            "content_type": "thoughts", "thoughts": [{"summary": "", "content": "The moon."}]}),
        gizmo_id="g-1", gizmo_type="gpt", conversation_origin=None, voice=None, async_status=None,
        default_model_slug="gpt-5", safe_urls=["https://tides.example/tables"], plugin_ids=None,
        memory_scope="global_enabled", current="a1",
    )  # fmt: skip


def chatgpt_code() -> dict[str, Any]:
    """Code that draws a picture, a picture that was generated, a quotation, and instructions."""
    drawn = {
        "aggregate_result": {
            "status": "success", "run_id": "run-1", "code": "plot(tides)",
            "final_expression_output": "<Axes>", "jupyter_messages": [
                {"msg_type": "status", "parent_header": {"msg_id": "m1"},
                 "content": {"execution_state": "busy"}}],
            "messages": [{"message_type": "image", "sender": "server", "width": 640, "height": 480,
                          "image_url": "file-service://file-plot"}]},
        "model_slug": "gpt-4o",
    }  # fmt: skip
    made = {"content_type": "multimodal_text", "parts": [{
        "content_type": "image_asset_pointer", "asset_pointer": "sediment://file_made",
        "size_bytes": 9_000, "width": 640, "height": 480,
        "metadata": {"dalle": {"gen_id": "gen-1", "prompt": "a kite over a harbour", "seed": 1}},
    }]}  # fmt: skip
    told = {"content_type": "user_editable_context", "user_profile": "I am a sailor.",
            "user_instructions": "Answer in knots."}  # fmt: skip
    page = {"content_type": "tether_quote", "url": "https://tides.example/q", "domain": "tides.e",
            "title": "A quoted page", "text": "The sea rises.", "tether_id": "te-1"}  # fmt: skip
    shown = {"content_type": "tether_browsing_display", "result": "L0: The sea", "summary": "Sea.",
             "assets": None, "tether_id": "te-2"}  # fmt: skip
    sent = {"attachments": [{"id": "file_a", "name": "tides.csv", "mime_type": "text/csv",
                             "size": 80, "source": "local"}]}  # fmt: skip
    voice = {"content_type": "multimodal_text", "parts": [
        {"content_type": "audio_transcription", "text": "Draw them, please.", "direction": "in"},
        {"content_type": "real_time_user_audio_video_asset_pointer", "frames_asset_pointers": [],
         "audio_asset_pointer": {"content_type": "audio_asset_pointer", "format": "wav",
                                 "asset_pointer": "sediment://file_voice", "size_bytes": 80_000}},
    ]}  # fmt: skip
    return chatgpt(
        chatgpt_node("s", None, "system", content=told,
                     metadata={"is_visually_hidden_from_conversation": True}),
        chatgpt_node("u1", "s", "user", content=voice, at=1.0, metadata=sent),
        chatgpt_node("c1", "u1", "assistant", at=2.0, recipient="python", content={
            "content_type": "code", "language": "python", "text": "plot(tides)",
            "response_format_name": None}),
        chatgpt_node("o1", "c1", "tool", name="python", at=3.0, metadata=drawn,
                     content={"content_type": "execution_output", "text": "<Axes>"}),
        chatgpt_node("b1", "o1", "assistant", at=3.5, recipient="browser",
                     metadata={"model_slug": "gpt-4o"}, content={
                         "content_type": "code", "language": "unknown", "text": "open_page(1)"}),
        chatgpt_node("q1", "b1", "tool", name="browser", content=page, at=4.0),
        chatgpt_node("q2", "q1", "tool", name="browser", content=shown, at=4.5),
        chatgpt_node("a1", "q2", "assistant", text="Here they are.", at=5.0),
        chatgpt_node("d1", "a1", "assistant", at=6.0, recipient="dalle.text2im", content={
            "content_type": "code", "language": "json",
            "text": '{"prompt": "a kite over a harbour"}'}),
        chatgpt_node("d2", "d1", "tool", name="dalle.text2im", content=made, at=7.0),
        chatgpt_node("e1", "d2", "assistant", at=8.0, content={
            "content_type": "system_error", "name": "RateLimit", "text": "Too many pictures."}),
        title="Drawn tides", conversation_id="6f1c2a9b-0000-4000-8000-000000000002",
    )  # fmt: skip


CHATGPT_FILES = {
    "file-plot-1.png": PNG, "file_made-2.png": PNG, "file_a-tides.csv": b"hour,height\n1,2\n",
}  # fmt: skip


def claude_search() -> dict[str, Any]:
    """A search with citations and reasoning, a screenshot, an extracted file, and a summary."""

    def block(kind: str, second: int, **more: Any) -> dict[str, Any]:
        times = {f"{name}_timestamp": f"2026-05-01T10:02:{second + at:02}Z"
                 for at, name in enumerate(("start", "stop"))}  # fmt: skip
        return {**times, "type": kind, "flags": None, **more}

    quiet = {"integration_name": None, "icon_name": "globe", "context": None, "is_mcp_app": None}
    cited = {"uuid": "c-1", "start_index": 0, "end_index": 9, "details": {
        "type": "web_search_citation", "url": "https://kites.example/a"}}  # fmt: skip
    other = {"uuid": "c-2", "start_index": 0, "end_index": 9, "details": {
        "type": "web_search_citation", "url": "https://kites.example/b", "title": "B"}}  # fmt: skip
    knowledge = {
        "type": "knowledge", "title": "All about kites", "url": "https://kites.example/a",
        "metadata": {"type": "webpage_metadata", "site_domain": "kites.example",
                     "favicon_url": "https://icons.example/k", "site_name": "Kites"},
        "text": "A kite needs wind.", "is_citable": True, "is_missing": False, "links": None,
        "prompt_context_metadata": {"age": "2 days ago", "url": "https://kites.example/a"},
    }  # fmt: skip
    picture = {"type": "image", "file_uuid": "f-9", "source": {
        "type": "base64", "media_type": "image/png", "data": PNG_DATA}}  # fmt: skip
    display = {"type": "json_block", "json_block": '{"query": "kites"}'}
    content = [
        block(
            "thinking",
            0,
            thinking="Search for kites.",
            cut_off=False,
            alternative_display_type=None,
            summaries=[{"summary": "Planning a search"}],
            signature="c2ln",
        ),
        block("text", 2, text="I search.", citations=[]),
        block(
            "tool_use",
            4,
            id="toolu_1",
            name="web_search",
            input={"query": "kites"},
            message="Searching the web",
            display_content=display,
            **quiet,
        ),
        block(
            "tool_result",
            6,
            tool_use_id="toolu_1",
            name="web_search",
            is_error=False,
            content=[knowledge, {"type": "text", "text": "One of 10.", "uuid": "x-1"}, picture],
            message=None,
            structured_content=None,
            **quiet,
        ),
        block("text", 8, text="They need wind.", citations=[cited, other]),
        block("token_budget", 9),
    ]
    file = {"file_name": "kites.pdf", "file_size": 900, "file_type": "pdf",
            "extracted_content": "The text of the PDF."}  # fmt: skip
    seen = {"file_kind": "image", "file_uuid": "f-1", "file_name": "kite.png"}
    placeholder = "```\nThis block is not supported on your current device yet.\n```"
    return claude(
        claude_message("m1", NO_MESSAGE, "human", "What do kites need?", attachments=[file],
                       files=[seen], files_v2=[seen]),
        claude_message("m22", "m1", "assistant",
                       f"I search.\n{placeholder}\nThey need wind.", content=content),
        claude_message("m333", "m22", "human", "Thanks"),
        claude_message("m4444", "m22", "human", "Thank you", updated_at="2026-05-01T10:09:00Z"),
        summary="**Overview**\n\nThe person asked what kites need.",
        settings={"preview_feature_uses_artifacts": True}, is_starred=False,
    )  # fmt: skip


def claude_project() -> dict[str, Any]:
    return {
        "uuid": "0198a1b2-0000-4000-8000-000000000001", "name": "Kite shop",
        "description": "Everything for the shop.", "is_private": True, "is_starter_project": False,
        "prompt_template": "Answer as a seller of kites.",
        "created_at": "2026-04-01T10:00:00Z", "updated_at": "2026-04-02T10:00:00Z",
        "creator": {"uuid": "ann", "full_name": "Ann"},
        "docs": [{"uuid": "d-1", "filename": "prices.md", "content": "# Prices\n\nA kite: 9.",
                  "created_at": "2026-04-01T10:00:00Z"}],
    }  # fmt: skip


def claude_memories() -> list[dict[str, Any]]:
    return [{
        "conversations_memory": "**Work**\nAnn sells kites.", "account_uuid": "ann",
        "project_memories": {"0198a1b2-0000-4000-8000-000000000001": "The shop opens at nine."},
    }]  # fmt: skip


GEMINI_HTML = """<p>Use <strong>these</strong>, see <a href="https://list.example/ls?a=1&amp;b=2">the
manual</a>:</p><ol start="3"><li>first</li><li>second<ul><li>inner</li></ul></li></ol>
<p>E = mc<sup>2</sup> and H<sub>2</sub>O</p>
<pre><code class="language-python">def f():

    return 1  \n\n\ndef g():
    pass
</code></pre>
<p><img src="https://pics.example/kite.png" alt="A red kite"></p>
<table><tr><th>Name</th><th>Size</th></tr><tr><td>a &lt; b</td><td>9</td></tr></table>
<blockquote><p>Said so.</p></blockquote>"""


def gemini_page() -> list[dict[str, Any]]:
    """A reply with every kind of markup, an entry with details, and one of a canvas."""
    return [
        gemini_entry(20, "Created Gemini Canvas titled Notes", subtitles=[{"name": "# Notes"}]),
        gemini_entry(
            10, "Prompted How do I list files?", GEMINI_HTML,
            subtitles=[{"name": "with an extension"}], activityControls=["Gemini Apps Activity"],
            details=[{"name": "https://gemini.example/app/1", "url": "https://gemini.example/app/1"}],
        ),
    ]  # fmt: skip


RESPONSES = LLM_OLD.replace(
    "response TEXT,", "response TEXT, prompt_json TEXT, options_json TEXT, response_json TEXT,"
    " duration_ms INTEGER, resolved_model TEXT, schema_id TEXT, token_details TEXT,"
)  # fmt: skip
LLM_MORE = """
    CREATE TABLE system_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
    CREATE TABLE tool_results_attachments (tool_result_id INTEGER, attachment_id TEXT,
        "order" INTEGER);
    CREATE TABLE part_attachments (part_id INTEGER, attachment_id TEXT, "order" INTEGER);
"""


def llm_old(path: Path) -> Path:
    """Pictures of a prompt and of a result, fragments of a system prompt, two system prompts."""
    rest = ("gpt-5-2026", None, None)
    row = ('{"messages": []}', '{"temperature": 1}', '{"id": "x"}', 900, *rest)
    return make_database(
        path,
        RESPONSES + LLM_MORE,
        conversations=[("k1", "Sums", "gpt-5")],
        responses=[
            (
                "r1",
                "gpt-5",
                "What is it?",
                "Be brief.",
                "",
                *row,
                "k1",
                "2026-04-01T10:00:00",
                None,
            ),
            ("r2", "gpt-5", "", "Be long.", "A kite.", *row, "k1", "2026-04-01T10:00:05", "Easy."),
        ],
        tool_calls=[(1, "r1", "look", '{"at": "the picture"}', "t1")],
        tool_results=[(1, "r2", "look", "seen", "t1", "ValueError: a part is missing")],
        attachments=[
            ("x", "image/png", None, None, PNG),
            ("y", "text/plain", "/tmp/notes.txt", None, b"red, with a tail"),
            ("z", "image/png", None, "https://kites.example/z.png", None),
        ],
        prompt_attachments=[("r1", "x", 0), ("r1", "z", 1)],
        tool_results_attachments=[(1, "y", 0)],
        fragments=[(1, "h1", "You know kites.", "/tmp/kites.txt"), (2, "h2", "A novel.", None)],
        system_fragments=[("r1", 1, 0)],
        prompt_fragments=[("r1", 2, 0)],
    )


def llm_new(path: Path) -> Path:
    """A thread with a picture in a message and one in a result, both in the database."""
    given = json.dumps({"attachment": {"id": "x", "type": "image/png"}})
    output = json.dumps({"output": "seen", "tool_call_id": "t1", "exception": None})
    call = json.dumps({"arguments": {"at": "the picture"}, "tool_call_id": "t1"})
    return make_database(
        path,
        LLM_OLD + LLM_NEW + LLM_MORE,
        attachments=[("x", "image/png", None, None, PNG), ("y", None, None, None, b"a note")],
        messages=[("s", None, "system", None), ("1", "s", "user", None),
                  ("2", "1", "assistant", None), ("3", "2", "tool", None)],
        parts=[
            (1, "s", 0, "text", None, "Be kind.", None),
            (2, "1", 0, "text", None, "What is it?", None),
            (3, "1", 1, "attachment", None, None, given),
            (4, "2", 0, "tool_call", "look", None, call),
            (5, "3", 0, "tool_result", "look", None, output),
        ],
        part_attachments=[(3, "x", 0), (5, "y", 0)],
        threads=[("k2", "A picture", "3", None, "2026-09-01T10:00:00")],
        turns=[("01", "k2", "1", "2", "gpt-5", "2026-09-01T10:00:01")],
    )  # fmt: skip


def open_webui_sources() -> list[dict[str, Any]]:
    """A chat with a system prompt, tags, sources, a file, a picture, and replies that failed."""
    text = {
        "type": "file",
        "id": "f1",
        "name": "tides.md",
        "file": {
            "id": "f1",
            "filename": "tides.md",
            "hash": "aa",
            "user_id": "ann",
            "data": {"content": "# Tides", "status": "completed"},
            "meta": {
                "name": "tides.md",
                "content_type": "text/markdown",
                "collection_name": "file-f1",
            },
        },
    }
    page = {
        "source": {"type": "file", "id": "f1", "name": "tides.md", "url": "f1"},
        "document": ["The tide is high at six.", "And low at noon."],
        "metadata": [{"name": "tides.md", "source": "tides.md", "file_id": "f1"}],
        "distances": [0.9, 0.8],
    }
    web = {
        "source": {"name": "https://tides.example/a", "url": "https://tides.example/a"},
        "document": ["It says six."],
        "metadata": [{"source": "https://tides.example/a", "title": "A table of tides"}],
    }
    status = {
        "done": True,
        "action": "web_search",
        "description": "Searched {{count}} sites",
        "query": "tides",
        "urls": ["https://tides.example/a"],
    }
    messages = {
        "u": {
            "id": "u",
            "parentId": None,
            "childrenIds": ["a", "b"],
            "role": "user",
            "content": "When is it high?",
            "models": ["llama4", "qwen3"],
            "timestamp": 1_780_000_000,
            "files": [text, {"type": "image", "url": PNG_URL}],
        },
        "a": {
            "id": "a",
            "parentId": "u",
            "childrenIds": [],
            "role": "assistant",
            "done": True,
            "content": "At six [1].",
            "model": "llama4",
            "modelName": "Llama 4",
            "modelIdx": 0,
            "sources": [page, web],
            "statusHistory": [status],
            "followUps": ["And tomorrow?"],
            "timestamp": 1_780_000_001,
            "userContext": None,
            "lastSentence": "At six [1].",
            "usage": {"total_duration": "0h0m2s", "prompt_tokens": 9},
            "annotation": {"rating": 1, "reason": "accurate", "comment": "Right.", "tags": ["sea"]},
            "code_executions": [
                {"id": "e", "name": "sum", "code": "1 + 1", "result": {"output": "2"}}
            ],
        },
        "b": {
            "id": "b",
            "parentId": "u",
            "childrenIds": [],
            "role": "assistant",
            "done": False,
            "content": "At se",
            "model": "qwen3",
            "timestamp": 1_780_000_002,
            "error": {"content": "The model was unloaded."},
        },
    }
    return [{
        "id": "c1", "user_id": "ann", "title": "Tides", "share_id": None, "folder_id": "f-1",
        "meta": {"tags": ["sea"]}, "pinned": False, "archived": False,
        "created_at": 1_780_000_000, "updated_at": 1_780_000_100,
        "chat": {"id": "c1", "title": "Tides", "models": ["llama4", "qwen3"], "tags": ["moon"],
                 "params": {"system": "You are a sailor.", "stop": ["END"]}, "files": [text],
                 "history": {"messages": messages, "currentId": "a"}, "messages": [],
                 "timestamp": 1_780_000_000_000},
    }]  # fmt: skip


def librechat_agent() -> dict[str, Any]:
    """A conversation with instructions, tags, quotes, a search, a cut reply and an error."""
    found = {
        "type": "web_search",
        "toolCallId": "t1",
        "web_search": {
            "organic": [
                {"title": "About kites", "link": "https://kites.example/a", "snippet": "They fly."}
            ]
        },
    }
    search = {
        "id": "t1",
        "name": "web_search",
        "args": {"q": "kite"},
        "output": "A toy.",
        "progress": 1,
        "type": "tool_call",
    }
    file = {
        "file_id": "f1",
        "filename": "kite.txt",
        "type": "text/plain",
        "text": "Red.",
        "filepath": "/uploads/kite.txt",
        "embedded": False,
        "source": "text",
    }
    common = {
        "conversationId": "d2",
        "user": "ann",
        "createdAt": "2026-02-03T04:05:06.000Z",
        "updatedAt": "2026-02-03T04:05:07.000Z",
        "endpoint": "agents",
        "_id": "65",
        "__v": 0,
    }
    messages = [
        {**common, "messageId": "m1", "parentMessageId": NO_MESSAGE, "sender": "User",
         "isCreatedByUser": True, "text": "What is this?", "quotes": ["a toy on a line"],
         "files": [file]},
        {**common, "messageId": "m2", "parentMessageId": "m1", "sender": "Kite expert", "text": "",
         "isCreatedByUser": False, "model": "gpt-5-mini", "unfinished": True, "error": False,
         "iconURL": "https://icons.example/k", "feedback": {"rating": "thumbsUp", "tag": "clear",
                                                            "text": "Good."},
         "attachments": [found], "content": [
             {"type": "think", "think": "Search first."},
             {"type": "tool_call", "tool_call": search},
             {"type": "text", "text": "It is a to", "tool_call_ids": ["t1"]},
             {"type": "agent_update", "agent_update": {"agentId": "ag1", "runId": "run"}}]},
        {**common, "messageId": "m3", "parentMessageId": "m1", "sender": "GPT", "text": "",
         "isCreatedByUser": False, "error": True, "content": [
             {"type": "error", "error": "Quota exceeded."}]},
    ]  # fmt: skip
    return {
        "conversationId": "d2", "title": "Kites", "endpoint": "agents", "tags": ["toys"],
        "exportAt": "10:00:00 GMT+0000", "branches": True, "recursive": False,
        "options": {"model": "gpt-5-mini", "promptPrefix": "Know all kites.", "modelLabel": "Kite",
                    "agent_id": "ag1", "greeting": "Ahoy", "spec": "kites", "tags": ["wind"],
                    "maxContextTokens": 8_000, "resendFiles": True, "imageDetail": "auto"},
        "messages": messages,
    }  # fmt: skip


def plain_messages() -> list[dict[str, Any]]:
    """Chat completions messages with instructions, reasoning, a picture and a call."""
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": "b"}'}}
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": PNG_URL, "detail": "auto"}},
        {"type": "image_url", "image_url": {"url": "https://kites.example/k.png"}},
    ]
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": content, "name": "Ann", "created_at": "2026-03-02T09:00:00Z"},
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "Look."},
        {"role": "tool", "tool_call_id": "c1", "content": "A kite."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot say."}]},
        {"role": "developer", "content": "Be long."},
    ]


def chatgpt_browsing() -> dict[str, Any]:
    """A page list with its addresses beside it, a run in a container, and a comment on it."""
    pages = [
        {"type": "webpage", "title": f"Port {number}", "url": f"https://ports.example/{number}",
         "text": f"What port {number} is.", "pub_date": None, "extra": None}
        for number in (0, 1)
    ]  # fmt: skip
    cited = {"citation_format": {"name": "tether_og", "regex": "x"}, "metadata_list": pages,
             "original_query": None}  # fmt: skip
    shown = {"content_type": "tether_browsing_display", "summary": None, "assets": [],
             "result": "# 0: Port 0\nWhat port 0 is.", "tether_id": None}  # fmt: skip
    agent = {"n7jupd_subtool": {"subtool": None}, "reasoning_group_id": "g1", "turn_id": "t9",
             "turn_exchange_id": "e9", "can_save": False, "parent_id": "u1"}  # fmt: skip
    command = '{"cmd":["bash","-lc","ls"],"timeout":10000}'
    return chatgpt(
        chatgpt_node("u1", None, "user", text="Which ports?", at=1.0),
        chatgpt_node("b1", "u1", "assistant", at=2.0, recipient="browser", content={
            "content_type": "code", "language": "unknown", "text": 'search("ports")'}),
        chatgpt_node("b2", "b1", "tool", name="browser", content=shown, at=3.0,
                     metadata={"_cite_metadata": cited, "command": "search", "args": ["ports"]}),
        chatgpt_node("c1", "b2", "assistant", at=4.0, recipient="container.exec", metadata=agent,
                     channel="commentary", content={
                         "content_type": "code", "language": "unknown", "text": command}),
        chatgpt_node("c2", "c1", "tool", name="container.exec", text="ports.csv", at=5.0),
        chatgpt_node("a1", "c2", "assistant", text="Two ports.", at=6.0,
                     status="finished_partial_completion"),
        moderation_results=[], blocked_urls=[], is_do_not_remember=False,
        id="6f1c2a9b-0000-4000-8000-000000000001",
    )  # fmt: skip


def open_webui_output() -> list[dict[str, Any]]:
    """A reply as output items, with the same as folded blocks in its text, and a file's chat."""

    def item(kind: str, number: int, **more: Any) -> dict[str, Any]:
        return {"type": kind, "id": f"o-{number}", "status": "completed", **more}

    output = [
        item("reasoning", 1, start_tag="<think>", end_tag="</think>", summary=None, duration=3,
             attributes={"type": "reasoning_content"},
             content=[{"type": "output_text", "text": "Divide & add."}]),
        item("function_call", 2, call_id="c1", name="add", arguments='{"a": 1}'),
        item("function_call_output", 3, call_id="c1", output=[
            {"type": "input_text", "text": "2"}], files=[], embeds=[]),
        item("message", 4, role="assistant", content=[{"type": "output_text", "text": "Two."}]),
    ]  # fmt: skip
    folded = (
        '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds'
        "</summary>\n&gt; Divide &amp; add.\n</details>\n"
        '<details type="tool_calls" done="true" id="c1" name="add" arguments="{&quot;a&quot;: 1}">'
        "\n<summary>Tool Executed</summary>\n&quot;2&quot;\n</details>\nTwo."
    )
    messages = {
        "u": {"id": "u", "parentId": None, "childrenIds": ["a"], "role": "user", "content": "1+1?"},
        "a": {"id": "a", "parentId": "u", "childrenIds": [], "role": "assistant", "done": True,
              "content": folded, "model": "qwen3", "output": output},
    }  # fmt: skip
    history = {"messages": messages, "currentId": "u"}
    return [{"id": "c2", "title": "Sums", "chat": {"title": "Sums", "history": history}}]


def librechat_branches() -> dict[str, Any]:
    """Two questions beside each other, with replies that were cut in two ways, and old options."""
    none = "00000000-0000-0000-0000-000000000000"

    def message(name: str, parent: str, text: str, **more: Any) -> dict[str, Any]:
        is_user = parent == none
        return {
            "messageId": name, "conversationId": "d3", "parentMessageId": parent, "text": text,
            "createdAt": "2026-05-28T18:08:55.014Z", "updatedAt": "2026-05-28T18:08:56.014Z",
            "sender": "User" if is_user else "GPT-4", "isCreatedByUser": is_user, "error": False,
            "endpoint": "azureOpenAI", "isEdited": False, "tokenCount": 9, "unfinished": False,
            "model": None if is_user else "gpt-4o", **more,
        }  # fmt: skip

    return {
        "conversationId": "d3", "endpoint": "azureOpenAI", "title": "Stories", "branches": True,
        "exportAt": "08:12:16 GMT-0400 (Eastern Daylight Time)", "recursive": False,
        "options": {"presetId": None, "model": "gpt-4o", "chatGptLabel": None, "title": "Stories",
                    "promptPrefix": None, "imageDetail": "auto", "endpoint": "azureOpenAI"},
        "messages": [
            message("m1", none, "Tell a story."),
            message("m2", "m1", "Once upon a ti", finish_reason="incomplete"),
            message("m3", "m1", "There wa", unfinished=True),
            message("m4", none, "Tell a long story."),
            message("m5", "m4", "A long one.", finish_reason="stop"),
        ],
    }  # fmt: skip


def chatgpt_canvas() -> dict[str, Any]:
    """A document in a canvas, and a reply that refers to news, a picture and a file."""
    canvas = {"textdoc_id": "td1", "textdoc_type": "document", "title": "note", "version": 1,
              "create_source": "model", "from_version": None}  # fmt: skip
    note = '{"name":"note","type":"document","content":"# Note\\n\\nBuy kites."}'
    news = "\ue200navlist\ue202News on kites\ue202turn0news1,turn0news2\ue201"
    picture = {"title": "A kite", "url": "https://pics.example/p",
               "content_url": "https://pics.example/c.png",
               "thumbnail_url": "https://pics.example/t.png"}  # fmt: skip
    references = [
        {"type": "nav_list", "matched_text": news, "title": "News on kites", "items": [
            {"title": "Kite news", "url": "https://news.example/1", "thumb": None}]},
        {"type": "image_v2", "matched_text": "", "images": [{"image_result": picture}]},
        {"type": "file", "matched_text": "x", "name": "tides.pdf", "id": "file_1",
         "snippet": "page 3", "source": "my_files"},
    ]  # fmt: skip
    metadata = {"model_slug": "gpt-4o", "content_references": references}
    return chatgpt(
        chatgpt_node("u1", None, "user", text="Write a note.", at=1.0),
        chatgpt_node("a1", "u1", "assistant", at=2.0, recipient="canmore.create_textdoc", content={
            "content_type": "code", "language": "json", "text": note}),
        chatgpt_node("t1", "a1", "tool", name="canmore.create_textdoc", at=3.0,
                     text="Successfully created text document with id 'td1'",
                     metadata={"canvas": canvas}),
        chatgpt_node("a2", "t1", "assistant", text=f"Done. {news}", at=4.0, metadata=metadata),
    )  # fmt: skip


def gemini_german() -> list[dict[str, Any]]:
    """Replies with formulas, ticked boxes and hard spaces, in an account in German."""
    asked = ("Eins", "Zwei", "Drei", "Vier", "Elf", "Neun", "Zehn", "Zwölf")
    return [
        gemini_entry(
            number, f"Prompt eingegeben: {word}",
            f"<p>Ja &nbsp;<code>x&lt;y</code> {word}</p><ul><li><p>eins</p></li>"
            '<li><input type="checkbox" checked>zwei</li></ul><p>a<br>b</p><math><mi>x</mi></math>',
            subtitles=[{"name": "Anlage", "url": "https://files.example/a"}],
        )
        for number, word in enumerate(asked)
    ]  # fmt: skip


def open_webui_merged() -> list[dict[str, Any]]:
    """A merged reply with sources in an older form, and a collection of files."""
    files = [{"type": "collection", "id": "k1", "name": "Wiki", "description": "All pages"}]
    cited = [{"source": {"name": "old.md"}, "document": ["Old way."],
              "metadata": [{"source": "old.md"}]}]  # fmt: skip
    messages = {
        "a": {"id": "a", "parentId": None, "role": "user", "content": "Why?", "files": files},
        "b": {"id": "b", "parentId": "a", "role": "assistant", "content": "So.", "model": "m",
              "merged": {"content": "So, both say.", "status": True}, "citations": cited},
    }  # fmt: skip
    history = {"messages": messages, "currentId": "b"}
    chat = {"title": "Why", "system": "Be kind.", "history": history}
    return [{"id": "c3", "title": "Why", "chat": chat}]


def chatgpt_cards() -> dict[str, Any]:
    """Spans and references with charts, products and places, and contents without plain text."""
    chart = '\ue200genui\ue202{"chart":{"content":{}}}\ue201'
    goods = '\ue200products\ue202{"selections":[["turn0product1","Box kite"]]}\ue201'
    places = (
        '\ue200businesses_map\ue202{"name":"Kite Hill","location":"12 Gale Road"}'
        '\ue202{"name":"The Spar","location":"3 Quay"}\ue201'
    )
    formula = '\ue200genui\ue202{"math_block_widget":{"content":"a^2 + b^2"}}\ue201'
    weather = "\ue200forecast\ue202turn0forecast0\ue201"
    wind = {
        "language": "recharts-json", "widget_type": "charts_widget_v2", "content": {
            "chartType": "line", "xKey": "hour", "meta": {"title": "Wind in knots"},
            "series": [{"dataKey": "knots", "label": "Gusts"}],
            "data": [{"hour": "6 am", "knots": 12}, {"hour": "noon", "knots": 21}]},
    }  # fmt: skip
    product = {
        "title": "Box kite", "price": "$39.90", "rating": 4.5, "id": "p-1",
        "url": "https://kites.example/box", "merchants": "Kites & Co",
        "image_urls": ["https://pics.example/box.png"],
        "offers": [{"merchant_name": "Sky Shop", "price": "$41.00",
                    "url": "https://sky.example/box"}],
    }  # fmt: skip
    references = [
        {"type": "client_defined_widget", "category": "visualization", "matched_text": chart,
         "start_idx": 9, "end_idx": 30, "alt": None, "data": wind},
        {"type": "products", "matched_text": goods, "products": [product], "alt": "Box kite",
         "start_idx": 31, "end_idx": 50},
        {"type": "alt_text", "matched_text": weather, "alt": "Gusts of 21 knots at noon.",
         "prompt_text": None},
        {"type": "video", "matched_text": "", "title": "How to fly", "video_id": "v-1",
         "url": "https://video.example/fly", "channel_title": "Kite School"},
        {"type": "client_defined_widget", "category": "writing_block", "matched_text": "",
         "data": {"id": "b1", "variant": "email", "subject": "Kites", "content": "Ann,\nfly."}},
    ]  # fmt: skip
    metadata = {
        "model_slug": "gpt-5",
        "content_references": references,
        "writing_blocks": {"b2": {"id": "b2", "variant": "standard", "content": "A poem on wind."}},
    }
    widgets = {"content_type": "super_widget", "widgets": {"navlinks": [
        {"title": "Kite fair", "url": "https://fair.example/kites", "snippet": "In May."}]},
    }  # fmt: skip
    output = {"content_type": "citable_code_output", "output_str": "L0: 42 kites"}
    screen = {
        "content_type": "computer_output", "computer_id": "c-1", "tether_id": None,
        "screenshot": {"content_type": "image_asset_pointer", "size_bytes": 4_000, "width": 8,
                       "asset_pointer": "sediment://file_screen", "height": 8},
        "state": {"id": "s-1", "type": "browser", "url": "https://fair.example/tickets",
                  "title": "Tickets"},
    }  # fmt: skip
    paired = {"content_type": "app_pairing_content", "context_parts": [{"text": "ls -l"}],
              "workspaces": [{"id": "w-1", "app_name": "Terminal", "title": "kites"}]}  # fmt: skip
    page = {"content_type": "sonic_webpage", "url": "https://fair.example/", "domain": "fair.e",
            "title": "The fair", "text": "It opens in May.", "snippet": "Opening"}  # fmt: skip
    novel = {"content_type": "diorama", "scene": {"caption": "Kites over a bay", "layers": 3}}
    report = {
        "id": "rm", "author": {"role": "assistant"}, "recipient": "all", "channel": "final",
        "status": "finished_successfully",
        "content": {"content_type": "text", "parts": ["# On kites\n\nThey need wind."]},
        "metadata": {"content_references": [{"type": "grouped_webpages", "matched_text": "",
                                             "items": [source(9)]}], "is_complete": True},
    }  # fmt: skip
    state = {
        "status": "completed", "research_started_at": "2026-05-01T10:00:00+00:00",
        "step_statuses_by_plan": {"pl": {"s1": "completed"}}, "report_message": report,
        "plan": {"plan_id": "pl", "title": "A plan on kites", "version": 1, "steps": [
            {"id": "s1", "text": "Ask makers", "status": "completed", "reason": None}]},
    }  # fmt: skip
    sdk = {"resource_name": "Research", "attribution_id": "at", "connector_type": "FIRST_PARTY",
           "widget_state": json.dumps(state)}  # fmt: skip
    table = {"type": "table", "file_id": "file-table", "title": "Kites by size"}

    def tool(name: str, parent: str, content: object, at: float, **metadata: Any) -> Any:
        return chatgpt_node(
            name, parent, "tool", name="web.run", content=content, at=at, metadata=metadata
        )

    return chatgpt(
        chatgpt_node("u1", None, "user", at=1.0,
                     content={"content_type": "multimodal_text", "parts": [paired, "Where?"]}),
        tool("t1", "u1", widgets, 2.0),
        tool("t2", "t1", output, 3.0, ada_visualizations=[table]),
        tool("t3", "t2", screen, 4.0),
        tool("t4", "t3", page, 5.0),
        tool("t5", "t4", {"content_type": "code", "language": "json", "text": '{"session": 1}'},
             6.0, chatgpt_sdk=sdk, invoked_resource={"app_name": "Research"}),
        chatgpt_node("a1", "t5", "assistant", at=7.0, metadata=metadata, text=(
            f"Look: {chart} then {goods}, {places}; {formula}; {weather}")),
        chatgpt_node("a2", "a1", "assistant", at=8.0,
                     content={"content_type": "multimodal_text", "parts": [novel]}),
        title="Kites", conversation_id="6f1c2a9b-0000-4000-8000-000000000007",
    )  # fmt: skip


def open_webui_knowledge() -> list[dict[str, Any]]:
    """A chat with its own files: one that a question has, too, another one, and a collection."""

    def file(name: str, content: str) -> dict[str, Any]:
        return {
            "type": "file", "id": f"id-{name}", "name": name, "status": "uploaded",
            "file": {"id": f"id-{name}", "filename": name, "data": {"content": content}},
        }  # fmt: skip

    pages = [{"id": "k-1", "filename": "bays.md", "data": {"content": "Bays are calm."}},
             {"id": "k-2", "filename": "capes.md"}]  # fmt: skip
    wiki = {"type": "collection", "id": "k", "name": "Wiki", "description": "All pages",
            "files": pages}  # fmt: skip
    asked = file("asked.md", "# Asked")
    ran = {"id": "e", "name": "sum", "language": "python", "code": "1 + 1",
           "result": {"output": "It is 2"}}  # fmt: skip
    messages = {
        "s": {"id": "s", "parentId": None, "role": "system", "content": "Be kind."},
        "u": {"id": "u", "parentId": "s", "role": "user", "content": "Where?", "files": [asked]},
        "a": {"id": "a", "parentId": "u", "role": "assistant", "content": "Here.", "model": "m",
              "code_executions": [ran]},
    }  # fmt: skip
    history = {"messages": messages, "currentId": "a"}
    files = [asked, file("whole.md", "# Of the whole chat"), wiki]
    return [{"id": "c4", "title": "Bays", "chat": {"history": history, "files": files}}]


def plain_functions() -> list[dict[str, Any]]:
    """Calls in all forms of OpenAI's messages and of its Responses API, and spoken messages."""
    spoken = b64encode(b"RIFF....WAVE").decode()
    custom = {"id": "c2", "type": "custom", "custom": {"name": "patch", "input": "- old\n+ new"}}
    return [
        {"role": "user", "content": [
            {"type": "input_audio", "input_audio": {"data": spoken, "format": "wav"}},
            {"type": "file", "file": {"filename": "n.txt", "file_data": (
                f"data:text/plain;base64,{b64encode(b'A note.').decode()}")}}]},
        {"role": "assistant", "content": None, "function_call": {
            "name": "weather", "arguments": '{"city": "Bath"}'}},
        {"role": "function", "name": "weather", "content": "Rain."},
        {"role": "assistant", "content": None, "refusal": None, "audio": {
            "id": "audio_1", "data": spoken, "expires_at": 1_780_000_000,
            "transcript": "It rains in Bath."}},
        {"role": "user", "content": "Mend it."},
        {"role": "assistant", "content": "", "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "c2", "content": "Done."},
        {"role": "user", "content": [{"type": "input_text", "text": "And now?"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [
            {"type": "summary_text", "text": "Look at the sky."}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c3", "name": "sky",
         "arguments": '{"at": "noon"}', "status": "completed"},
        {"type": "function_call_output", "call_id": "c3", "output": "Clouds."},
        {"type": "message", "id": "m_1", "role": "assistant", "status": "completed", "content": [
            {"type": "output_text", "text": "It is cloudy.", "annotations": []}]},
    ]  # fmt: skip
