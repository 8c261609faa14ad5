"""Messages of Gemini CLI and the programs made from it, one record each.

type user                    a prompt, text the runtime put in, or function responses only
type gemini (qwen)           an API response
type info, warning, error    what the screen showed
content                      text, a part or parts, see ``genai``
thoughts                     [{subject, description}], which content may hold as well
toolCalls                    [{id, name, args, status, timestamp of its end, result: parts}], which content may name as well
tokens                       {input, cached in it, output, thoughts beside it, tool beside input}

Documents of other programs give them a ``role`` instead, ``usageMetadata``, and ``content`` as an object with parts.
"""

from typing import Any

from ...model import Message, Tokens, ToolCall, ToolResult
from .. import fields, genai

KINDS = {
    **dict.fromkeys(("user", "function", "tool"), "user"),
    **dict.fromkeys(("gemini", "qwen", "model", "assistant"), "answer"),
    **dict.fromkeys(("info", "warning", "error", "system"), "notice"),
}
FAILED = ("error", "cancelled")

Record = dict[str, Any]


def kind_of(record: Record) -> str | None:
    """Return ``user``, ``answer`` or ``notice``; ``None`` for anything else."""
    names = (fields.text(record, "type"), fields.text(record, "role"), fields.text(record, "content", "role"))
    return next((KINDS[name] for name in names if name in KINDS), None)


def time_of(record: Record) -> float | None:
    """Return when a message was recorded."""
    return fields.seconds(record, "timestamp") or fields.seconds(record, "createTime")


def model_of(record: Record) -> str | None:
    """Return the model that answered."""
    return fields.text(record, "model") or fields.text(record, "modelVersion")


def content_of(record: Record) -> Any:
    """Return a message's text or parts."""
    for place in (("content", "parts"), ("content",), ("parts",), ("text",)):
        if (content := fields.at(record, *place)) is not None:
            return content
    return None


def thoughts_of(record: Record) -> str | None:
    """Return what the model thought, where the record keeps it apart."""
    thoughts = []
    for thought in fields.rows(record, "thoughts"):
        subject, description = fields.text(thought, "subject"), fields.text(thought, "description")
        thoughts.append("\n".join(filter(None, (f"**{subject}**" if subject else None, description))))
    return "\n\n".join(filter(None, thoughts)) or None


def calls_of(record: Record, named: list[ToolCall]) -> list[ToolCall]:
    """Return the tools a response calls; ``named`` are those of its content, which may be the same ones."""
    calls = [
        ToolCall(fields.text(call, "id"), fields.text(call, "name") or "", fields.at(call, "args"))
        for call in fields.rows(record, "toolCalls")
    ]
    own = list(calls)
    for call in named:
        if not any(one.id == call.id if call.id else (one.name, one.input) == (call.name, call.input) for one in own):
            calls.append(call)
    return calls


def has_result(call: Any) -> bool:
    """Return whether a tool call holds its result."""
    return fields.at(call, "result") not in (None, "", [], {})


def result_of(call: Any, time: float | None, branch: int) -> Message:
    """Return the result that a tool call holds; ``time`` is that of the call.

    It may be a whole record of function responses, those to calls beside it among them.
    """
    id, status = fields.text(call, "id"), fields.text(call, "status")
    said = genai.Parts(fields.at(call, "result"))
    own = ([one for one in said.results if one.tool_call_id == id] or said.results)[:1]
    output = genai.with_media(own[0].output if own else "", said.shown)
    failed = status in FAILED or (status != "success" and any(one.is_error for one in own))
    answer = ToolResult(id, output, failed, fields.text(call, "name"))
    return Message("tool", fields.seconds(call, "timestamp") or time, id, tool_result=answer, branch=branch, raw=call)


def used_of(record: Record) -> Record:
    """Return the counts a record holds of what the response used."""
    counts = {**fields.table(record, "usageMetadata"), **fields.table(record, "tokens")}
    return {name: count for name in counts if (count := fields.count(counts, name)) is not None}


def tokens_of(used: dict[str, int]) -> Tokens | None:
    """Return the tokens that such counts come to; ``None`` when there are none."""
    if "promptTokenCount" in used:
        return genai.tokens_of(used)
    count = used.get
    return genai.tokens(count("input"), count("cached"), count("tool"), count("output"), count("thoughts"))
