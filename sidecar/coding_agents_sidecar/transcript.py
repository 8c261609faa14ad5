"""Events -> the messages of a session, as ``read`` shows them. Counts nothing: it stands on the same fold as the index."""

from typing import Any

from .fold import Fold, SessionFold
from .formats import text
from .model import Message, Start, Tokens, ToolCall, Usage
from .reading import key_hash

Document = dict[str, Any]


class SessionTranscript(SessionFold):
    """A session that keeps its messages."""

    def __init__(self, runtime: str, start: Start) -> None:
        super().__init__(runtime, start)
        self.documents: list[Document] = []
        self.branches: list[int | str] = []
        self.calls: dict[str, Document] = {}
        self.called_at: dict[str, float] = {}
        self.by_key: dict[bytes, Document] = {}
        self.ids: set[str] = set()
        self.models: list[str] = []

    def message(self, event: Message) -> tuple[int, bool]:
        position, new = super().message(event)
        if new:
            self.documents.append(self.document(event, position))
            self.branches.append(event.branch)
            if event.key:
                self.by_key[key_hash(self.runtime, event.key)] = self.documents[-1]
        else:
            self.extend(self.documents[position], event)
        if event.model and event.model not in self.models:
            self.models.append(event.model)
        return position, new

    def use(self, event: Usage) -> None:
        super().use(event)
        digest = key_hash(self.runtime, event.key) if event.key else b""
        if digest in self.by_key:
            amounts = self.holdings[digest].amounts
            self.by_key[digest]["tokens"] = token_document(Tokens(*amounts[:5]))
            if amounts[5] is not None:
                self.by_key[digest]["cost"] = amounts[5] / 1_000_000
            return
        target = next((one for one in reversed(self.documents) if one["role"] == "assistant"), None)
        if target is not None and not event.aside:
            target.setdefault("tokens", token_document(event.tokens))
            if event.cost_usd is not None:
                target.setdefault("cost", event.cost_usd)

    def document(self, event: Message, position: int) -> Document:
        """Return the document of a new message."""
        document: Document = {
            "id": self.unique(event.id or event.key or f"m{position}"),
            "role": event.role,
            "content": text.clean_json(event.content),
            "tool_calls": None,
            "tool_result": None,
            "timestamp": None if event.time is None else int(event.time),
            "inherited": False,
        }
        if event.thinking:
            document["thinking"] = text.clean(event.thinking)
        if event.model:
            document["model"] = text.clean(event.model)
        for call in event.tool_calls or ():
            self.call(document, call, event.time)
        if event.tool_result:
            document["tool_result"] = self.result(event)
        document["raw"] = [event.raw]
        return document

    def extend(self, document: Document, event: Message) -> None:
        """Add what a later record of the same response brings."""
        document["content"] = joined(document["content"], text.clean_json(event.content))
        if event.thinking:
            document["thinking"] = "\n\n".join(filter(None, (document.get("thinking"), text.clean(event.thinking))))
        if event.model:
            document["model"] = text.clean(event.model)
        known = {call["id"] for call in document["tool_calls"] or ()}
        for call in event.tool_calls or ():
            if call.id is None or text.clean(call.id) not in known:
                self.call(document, call, event.time)
        document["raw"].append(event.raw)

    def call(self, document: Document, call: ToolCall, time: float | None) -> None:
        """Add a tool call, to be completed when its result comes."""
        one: Document = {
            "id": None if call.id is None else text.clean(call.id),
            "name": text.clean(call.name),
            "input": text.clean_json(call.input),
        }
        if call.duration_ms is not None:
            one["duration_ms"] = call.duration_ms
        document["tool_calls"] = [*(document["tool_calls"] or ()), one]
        if call.id:
            self.calls[call.id] = one
            if time is not None:
                self.called_at[call.id] = time

    def result(self, event: Message) -> Document:
        """Return a tool's result, and complete the call it answers."""
        result = event.tool_result
        assert result is not None
        output = text.clean_json(result.output)
        name = result.tool_name
        if result.tool_call_id and (call := self.calls.get(result.tool_call_id)):
            name = name or call["name"]
            call["output"], call["is_error"] = output, result.is_error
            began = self.called_at.get(result.tool_call_id)
            if result.duration_ms is not None:
                call["duration_ms"] = result.duration_ms
            elif "duration_ms" not in call and began is not None and event.time is not None and event.time >= began:
                call["duration_ms"] = round((event.time - began) * 1000)
        return {
            "tool_call_id": None if result.tool_call_id is None else text.clean(result.tool_call_id),
            "tool_name": None if name is None else text.clean(name),
            "output": output,
            "is_error": result.is_error,
        }

    def unique(self, id: str) -> str:
        """Return the id, with a number when another message has it."""
        id = text.clean(id)
        unique, number = id, 1
        while unique in self.ids:
            number += 1
            unique = f"{id}#{number}"
        self.ids.add(unique)
        return unique

    def finished(self, inherited: int, raw: bool) -> tuple[list[Document], list[Document]]:
        """Return the messages of the conversation and the abandoned ones.

        Args:
            inherited: position up to which messages are copies of another session's; -1 when none is.
            raw: keep the native records beside each message.
        """
        shown: list[Document] = []
        left: list[Document] = []
        for position, (document, branch) in enumerate(zip(self.documents, self.branches, strict=True)):
            document["inherited"] = position <= inherited
            records = document.pop("raw")
            if raw:
                document["raw"] = text.clean_json([record for record in records if record is not None])
            (left if branch in self.abandoned else shown).append(document)
        return shown, left


class Transcript(Fold):
    """The sessions of one source with their messages."""

    session_fold = SessionTranscript
    sessions: dict[str, SessionTranscript]  # type: ignore[assignment]


def token_document(tokens: Tokens) -> Document:
    """Return token counts as they stand in documents; ``total`` is ``None`` when no part is known."""
    parts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
    return {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "reasoning": tokens.reasoning,
        "total": sum(part or 0 for part in parts) if any(part is not None for part in parts) else None,
    }


def joined(first: str | list[Any], second: str | list[Any]) -> str | list[Any]:
    """Return the content of two records of one message as one."""
    if not first or not second:
        return first or second
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*as_parts(first), *as_parts(second)]


def as_parts(content: str | list[Any]) -> list[Any]:
    """Return content as a list of parts."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content
