"""The export formats."""

from jitchat.transfer.chat_jsonl import CHAT_JSONL
from jitchat.transfer.export import ExportFormat
from jitchat.transfer.html_page import HTML_PAGE
from jitchat.transfer.jitchat_json import write_json
from jitchat.transfer.markdown import MARKDOWN

JSON = ExportFormat("json", "every branch (can be imported again)", write_json)
EXPORTS = {each.name: each for each in (MARKDOWN, JSON, CHAT_JSONL, HTML_PAGE)}
