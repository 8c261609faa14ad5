"""A user record: results of tools, what a person typed, and what the program put beside it.

    <task>, <feedback>, <user_message>, <answer>, <user_input>, <user_command>   around what was typed
    [read_file for 'a.py'] Result:            before a result, while the model called tools in its text
    <environment_details>                     the state of the editor, in nearly every record
    [TASK RESUMPTION], <mode_notice>, …       other words of the program

A question, a plan and a result are handed over as calls of tools, and what a person says to them is their result.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...model import ToolResult
from .. import blocks, fields, jsonl
from .shapes import block_of, blocks_of

TALK = {
    *("ask_followup_question", "plan_mode_respond", "plan_mode_response", "act_mode_respond", "attempt_completion"),
    *("new_task", "condense", "summarize_task", "report_bug"),
}
"""Tools with which the model talks to the person."""

RESULT = re.compile(r"\s*\[(\w+)\b(?:[^\w\]].*?)?\] Result:", re.DOTALL)
TYPED = re.compile(r"^[ \t]*<(task|feedback|user_message|answer|user_input|user_command)\b[^>\n]*>", re.MULTILINE)
FEEDBACK = re.compile(r"(?:The user|You seem)[^\n]*:\s*<feedback>\n?(.*?)\n?</feedback>\s*\Z", re.DOTALL)
STATE = re.compile(r"^\s*<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL | re.MULTILINE)
LEADING = re.compile(
    r"\s*<(environment_details|environment_notice|mode_notice|SYSTEM_NOTICE|system-reminder|hook_context"
    r"|explicit_instructions|file_content|folder_content|url_content|workspace_diagnostics|terminal_output)\b[^>]*>"
    r".*?(?:</\1>|\Z)",
    re.DOTALL,
)
NOTICE = re.compile(
    r"\s*(?:\[TASK RESUMPTION\]|\[ERROR\] You did not use a tool|\[read_file for '|# task_progress|# TODO LIST"
    r"|Warning: this is a legacy conversation|Files attached by the user:)"
)
FRAME = re.compile(NOTICE.pattern + r"|\s*(?:New |The user |You seem |<|\Z)")
"""Before a wrapper: words of the program, or nothing."""

RESUMPTION = "[TASK RESUMPTION]"
FAILED = re.compile(
    r"(?:\[\w+[^\n]*\] Result:\s*)?(?:The tool execution failed|The user denied this operation"
    r"|Task was interrupted before this tool call could be completed)"
)


@dataclass(slots=True)
class Result:
    """What a tool answered.

    Args:
        call_id: ``None`` where the call is a piece of the model's text.
        parts: of its output.
        talked: it holds what a person said.
    """

    name: str | None
    call_id: str | None = None
    parts: list[Any] = field(default_factory=list)
    failed: bool = False
    talked: bool = False

    def told(self) -> ToolResult:
        """Return it as part of a message."""
        failed = self.failed or any(FAILED.match(fields.text(part, "text") or "") for part in self.parts)
        return ToolResult(self.call_id, blocks.plain(self.parts), failed, self.name)


class Spoken:
    """The content of a user record, sorted.

    Args:
        names: of the tools called so far, by the id of the call.

    Attributes:
        results: of tools, in order. One in text that holds nothing but a person's words is none.
        typed: parts a person is responsible for.
        injected: parts the program put in.
    """

    def __init__(self, content: Any, names: Mapping[str, str]) -> None:
        self.results: list[Result] = []
        self.typed: list[Any] = []
        self.injected: list[Any] = []
        self.names = names
        self.open: Result | None = None
        for block in blocks_of(content):
            self.take(block)
        self.results = [one for one in self.results if one.call_id is not None or not one.talked]

    def take(self, block: Any) -> None:
        """Sort one block."""
        kind = fields.text(block, "type")
        if kind == "text":
            self.text(fields.text(block, "text") or "")
        elif kind == blocks.RESULT:
            self.answer(block)
        elif self.open and not self.open.talked:
            self.open.parts += blocks.parts_of(block)
        else:
            self.typed += blocks.parts_of(block)

    def text(self, words: str) -> None:
        """Sort a text, at the begin of which the result of a tool may be announced."""
        if found := RESULT.match(words):
            self.open = Result(found[1])
            self.results.append(self.open)
            words = words[found.end() :]
        elif NOTICE.match(words):
            self.open = None
        if self.open and self.open.name not in TALK:
            self.output(self.open, words)
            return
        while found := LEADING.match(words):
            if found[1] != "environment_details":
                self.injected.append(blocks.text_part(found[0].strip()))
            words = words[found.end() :]
        typed, beside = unwrapped(words)
        if not FRAME.match(beside):
            # What looks like a wrapper is a piece of what was typed.
            typed, beside = [], STATE.sub("", words).strip()
        self.typed += map(blocks.text_part, typed)
        if typed and self.open:
            self.open.talked = True
        elif NOTICE.match(beside) or (typed and beside.startswith("<")):
            # A resumption that passes on what was typed is only its frame.
            if not typed or not beside.startswith(RESUMPTION):
                self.injected.append(blocks.text_part(beside))
        elif beside and not typed:
            (self.open.parts if self.open else self.typed).append(blocks.text_part(beside))

    def output(self, result: Result, words: str) -> None:
        """Take a text that belongs to a result, and what a person said about it."""
        words = without_state(words)
        found = FEEDBACK.search(words)
        if found:
            self.typed.append(blocks.text_part(found[1].strip()))
        if words and not (found and found[0] == words and not FAILED.match(words)):
            result.parts.append(blocks.text_part(words))

    def answer(self, block: Any) -> None:
        """Take the result of a call that has an id. It stays one also where a person answered."""
        id, content = fields.text(block, "tool_use_id"), fields.at(block, "content")
        output = [block_of(item) for item in content] if isinstance(content, list) else content
        result = Result(fields.text(block, "name") or self.names.get(id or ""), id or "", blocks.parts_of(output))
        result.failed = blocks.failed(block) or has_failed(content)
        for words in filter(None, (fields.text(part, "text") for part in result.parts)):
            self.typed += map(blocks.text_part, self.said(result, words))
        self.results.append(result)
        self.open = None

    def said(self, result: Result, words: str) -> list[str]:
        """Return what a person said in the output of a tool."""
        if result.name in TALK:
            return unwrapped(words)[0]
        if found := FEEDBACK.search(words):
            return [found[1].strip()]
        verdict = json_of(words)
        result.failed = result.failed or FAILED.match(fields.text(verdict, "message") or "") is not None
        if verdict.keys() == {"status", "feedback"}:
            result.failed = result.failed or fields.text(verdict, "status") == "denied"
            return list(filter(None, [fields.text(verdict, "feedback")]))
        return []


def unwrapped(words: str) -> tuple[list[str], str]:
    """Return the texts in wrappers, and what stands around them without the state of the editor."""
    inner: list[str] = []
    beside: list[str] = []
    position = 0
    for opening in TYPED.finditer(words):
        end = words.find(f"</{opening[1]}>", opening.end()) if opening.start() >= position else -1
        if end >= 0:
            inner.append(words[opening.end() : end].strip())
            beside.append(words[position : opening.start()])
            position = end + len(opening[1]) + 3
    beside.append(words[position:])
    return list(filter(None, inner)), STATE.sub("", "".join(beside)).strip()


def without_state(words: str) -> str:
    """Return an output without the state of the editor at its end; the same words inside of it are its own."""
    if words.rstrip().endswith("</environment_details>"):
        words = words[: max(words.rfind("<environment_details>"), 0)]
    return words.strip()


def json_of(words: str) -> dict[str, Any]:
    """Return the object that a text is; an empty one for any other text."""
    return fields.table(jsonl.load(words.encode("utf-8", "replace"))) if words.startswith("{") else {}


def has_failed(content: Any) -> bool:
    """Return whether none of the queries that an output answers succeeded."""
    items = content if isinstance(content, list) else [json_of(content)] if isinstance(content, str) else [content]
    verdicts = [fields.at(item, "success") for item in items if fields.at(item, "query") is not None]
    return bool(verdicts) and not any(verdict is not False for verdict in verdicts)
