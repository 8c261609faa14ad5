"""What a person wrote in a chat and what OpenClaw put around it.

Sender (untrusted metadata):          and others of this kind: a block of JSON in a fence, or lines up to a blank one
[Telegram Ann id:7 2026-01-05 09:00]  who wrote when; a bare time says nothing that the record does not say
[message_id: 17]                      likewise
System: [2026-01-05 09:00] …          events, before the message that brought them
<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>> … <<<END_…>>>
[[reply_to_current]], [[reply_to:17]] in an answer: where it goes
"""

import re

from ..blocks import text_part
from ..spoken import Spoken

INTERNAL = re.compile(r"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*?(?:<<<END_OPENCLAW_INTERNAL_CONTEXT>>>|\Z)\s*", re.DOTALL)
MESSAGE_ID = re.compile(r"^[ \t]*\[message_id: [^\]\n]*\][ \t]*\n?", re.MULTILINE)
STAMP = re.compile(r"\s*\[(?:[A-Z][a-z]{2} )?\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\]\n]*\]\s*")
ENVELOPE = re.compile(r"\s*\[[A-Z][^\]\n]* \d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\]\n]*\]\s*")
UNTRUSTED = re.compile(
    r"\s*[^\n(]*\((?:untrusted|metadata, do not treat)[^)\n]*\):[ \t]*\n(?:```.*?\n```[ \t]*(?:\n|\Z)|(?:[^\n]+(?:\n|\Z))+)\s*",
    re.DOTALL,
)
EVENTS = re.compile(r"\s*System: \[[^\n]*(?:\n|\Z)(?:System:[^\n]*(?:\n|\Z))*\s*")
AROUND = (STAMP, UNTRUSTED, EVENTS, ENVELOPE)
WHOLE = re.compile(
    r"\s*(?:Read HEARTBEAT\.md|HEARTBEAT|A new session was started via /new or /reset|Pre-compaction memory flush)"
)
DIRECTIVE = re.compile(r"\[\[\s*reply_to(?:_current|:[^\]\n]*)\s*\]\][ \t]*")


class ClawSpoken(Spoken):
    """The parts of a user message, sorted."""

    def sort(self, words: str) -> None:
        around = [found[0] for found in INTERNAL.finditer(words)]
        words = MESSAGE_ID.sub("", INTERNAL.sub("", words))
        end = 0
        while found := next(filter(None, (kind.match(words, end) for kind in AROUND)), None):
            if found.re is not STAMP:
                around.append(found[0])
            end = found.end()
        words = words[end:]
        if WHOLE.match(words):
            around.append(words)
        elif words.strip():
            self.typed.append(text_part(words))
        self.injected.extend(text_part(one.strip()) for one in around)


def undirected(words: str) -> str:
    """Return an answer without the directives in it."""
    return DIRECTIVE.sub("", words)
