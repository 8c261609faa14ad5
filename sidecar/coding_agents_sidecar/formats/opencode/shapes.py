"""The oldest and the newest form of a message, brought into the common one: a message's record and those of its parts.

up to 0.1    {id, role, parts: [text | tool-invocation | file], metadata: {time, tool: {<call>: {time}}, assistant, error}}
newest       rows of ``session_message``: {id, type, time_created, data}, by type
             user {text, files}   synthetic, system {text}   shell {callID, command, output}   compaction {summary}
             assistant {model: {id, providerID}, content: [text | reasoning | tool {id, name, state}], finish, cost,
                        tokens, error, time}
             agent-switched, model-switched: no messages
"""

from typing import Any

from .. import fields

Shape = tuple[dict[str, Any], list[Any]]
"""A message's record and those of its parts, in the common form; see ``messages``."""


def is_inline(record: Any) -> bool:
    """Return whether a message's record carries its parts itself."""
    return isinstance(fields.at(record, "parts"), list) and isinstance(fields.at(record, "metadata"), dict)


def from_inline(record: dict[str, Any]) -> Shape:
    """Return a message that carries its parts itself."""
    metadata = fields.table(record, "metadata")
    info = {
        **fields.table(metadata, "assistant"),
        "id": fields.text(record, "id"),
        "role": fields.text(record, "role"),
        "time": fields.table(metadata, "time"),
        "error": fields.at(metadata, "error"),
    }
    return info, [_invocation(part, metadata) for part in fields.rows(record, "parts")]


def _invocation(part: Any, metadata: Any) -> Any:
    if fields.text(part, "type") != "tool-invocation":
        return part
    call = fields.table(part, "toolInvocation")
    id = fields.text(call, "toolCallId")
    about = fields.table(metadata, "tool", id or "")
    state: dict[str, Any] = {"input": fields.at(call, "args"), "time": fields.table(about, "time")}
    if fields.text(call, "state") != "result":
        state["status"] = "running"
    elif fields.flag(about, "error"):
        state.update(status="error", error=fields.at(call, "result"))
    else:
        state.update(status="completed", output=fields.at(call, "result"))
    return {"type": "tool", "callID": id, "tool": fields.text(call, "toolName"), "state": state}


def from_row(row: dict[str, Any], data: dict[str, Any]) -> Shape | None:
    """Return a row of ``session_message``, without a role when its type is unknown; ``None`` for one that is no message.

    Args:
        data: the row's ``data`` as an object.
    """
    time = {"created": fields.at(row, "time_created"), **fields.table(data, "time")}
    info: dict[str, Any] = {"id": fields.text(row, "id"), "role": "user", "time": time}
    match fields.text(row, "type"):
        case "user":
            files = [{**file, "type": "file"} for file in fields.rows(data, "files") if isinstance(file, dict)]
            return info, [{"type": "text", "text": fields.text(data, "text")}, *files]
        case "synthetic" | "system":
            return info, [{"type": "text", "text": fields.text(data, "text"), "synthetic": True}]
        case "shell":
            state = {"input": {"command": fields.text(data, "command")}, "output": fields.text(data, "output")}
            return {**info, "role": "shell"}, [{"type": "tool", "state": state}]
        case "compaction":
            return info, [{"type": "text", "text": fields.text(data, "summary"), "synthetic": True}]
        case "assistant":
            content = [_item(item) for item in fields.rows(data, "content")]
            if fields.at(time, "completed") is None and any(fields.text(item, "type") == "text" for item in content):
                # Some builds do not write the time; an answer with text in it has ended.
                time["completed"] = time["created"]
            model = {"modelID": fields.text(data, "model", "id"), "providerID": fields.text(data, "model", "providerID")}
            kept = {name: fields.at(data, name) for name in ("finish", "cost", "tokens", "error")}
            return {**info, **model, **kept, "role": "assistant"}, content
        case "agent-switched" | "model-switched":
            return None
    return {**info, "role": None}, []


def _item(item: Any) -> Any:
    if fields.text(item, "type") != "tool":
        return item
    state = fields.table(item, "state")
    output = fields.at(state, "content")
    return {
        "type": "tool",
        "callID": fields.text(item, "id"),
        "tool": fields.text(item, "name"),
        "state": {**state, "output": fields.at(state, "output") if output is None else output},
    }
