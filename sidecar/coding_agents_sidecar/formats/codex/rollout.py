"""The entries of one thread, in order -> events.

session_meta          first of its own; one with another id says that a copy of that thread's history follows
turn_context          model and turn of what follows
response_item         the conversation: message, reasoning, calls and their outputs
event_msg             for the screen, repeats the conversation; token_count, task_* and thread_* say what nothing else does
compacted             a summary took the place of what came before; replacement_history only repeats
token_usage_record    what one response used
"""

from collections.abc import Iterator
from typing import Any

from ...model import Abandoned, Ended, Ending, Event, Info, Message, Start, ToolCall, Unknown, Usage
from .. import blocks, fields, times
from . import content, prompts, tokens
from .keys import Keys
from .shapes import Entry, entries

META = {"cli_version": "version", "model_provider": "provider", "originator": "originator", "agent_nickname": "agent"}
THREAD_NAME, TASK_TITLE = 2, 1
TITLE_LENGTH = 100
REVERTED = "reverted"
"""Label of the branch that later files of the thread have cut off."""
KINDS = {
    *("response_item", "event_msg", "turn_context", "session_meta", "token_usage_record", "usage", "compacted"),
    "inter_agent_communication",
}
"""Entries that tell by coming after a user's item whether it was typed."""
NOISE = {
    *("world_state", "retained_context", "security_risk_score", "realtime_item", "inter_agent_communication_metadata"),
    *("ghost_snapshot", "additional_tools", "configuration_update", "compaction", "context_compaction", "compaction_summary"),
}
"""Entries and response items that say nothing of the conversation."""
PLAIN = (
    *("parent", "begun", "titled", "placed", "timed", "model", "last_turn", "open", "worded", "calling", "answered", "asked"),
    *("running", "failed"),
)
"""Attributes that are kept as they are."""
RECENT = 64
"""Unanswered calls of which is kept what events tell beside their output."""


def start_of(meta: dict[str, Any], session_id: str, preference: int) -> Start:
    """Return a thread as a session, from its own session_meta."""
    spawn = fields.table(meta, "source", "subagent", "thread_spawn")
    is_agent = fields.at(meta, "source", "subagent") is not None or fields.text(meta, "thread_source") == "subagent"
    forked = fields.text(meta, "forked_from_id")
    parent = fields.text(spawn, "parent_thread_id") or fields.text(meta, "parent_thread_id") if is_agent else None
    return Start(session_id, "subagent" if is_agent else "session", parent or forked, preference=preference)


class Rollout:
    """A thread while its entries come in.

    Args:
        start: the thread as a session.
        marks: whether its prompts are marked.
        state: as ``state`` returned it for a shorter form of the file; ``None`` when it is read from its start.

    Attributes:
        limit: later files took the history back to before the entry with this ordinal; ``None`` when none did.
    """

    def __init__(self, start: Start, marks: prompts.Marks, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.start, self.marks = start, marks
        self.session_id, self.kind = start.session_id, start.kind
        self.parent: str | None = state.get("parent", start.parent_id)
        self.keys = Keys(start.session_id, state.get("keys"))
        self.counter = tokens.Counter(state.get("counter"))
        self.begun: bool = state.get("begun", False)
        self.titled: bool = state.get("titled", False)
        self.placed: bool = state.get("placed", False)
        self.timed: bool = state.get("timed", False)
        self.model: str | None = state.get("model")
        self.turns: list[int] = list(state.get("turns", []))
        self.last_turn: int = state.get("last_turn", 0)
        self.gone: set[int | str] = set(state.get("gone", []))
        self.open: str | None = state.get("open")
        self.worded: bool = state.get("worded", False)
        self.calling: bool = state.get("calling", False)
        self.thoughts: list[str] = list(state.get("thoughts", []))
        self.told: dict[str, tuple[int | None, bool | None]] = {name: (took, bad) for name, took, bad in state.get("told", [])}
        self.answered: bool = state.get("answered", False)
        self.asked: bool = state.get("asked", False)
        self.running: bool = state.get("running", False)
        self.failed: bool = state.get("failed", False)
        self.waiting: Entry | None = None
        self.limit: int | None = None

    def state(self) -> dict[str, Any]:
        """Return what reading the grown file from here on needs, as JSON-like data."""
        return {
            **{name: getattr(self, name) for name in PLAIN},
            "keys": self.keys.state(),
            "counter": self.counter.state(),
            "turns": list(self.turns),
            "gone": sorted(self.gone, key=str),
            "thoughts": list(self.thoughts),
            "told": [[name, *told] for name, told in self.told.items()],
        }

    def next_file(self) -> None:
        """Go on with the thread's next file, which a revert began."""
        self.limit, self.running = None, False
        self.close()
        # Its totals go on from where it was cut off, which is not where the file before it ends.
        self.counter = tokens.Counter()

    def line(self, record: dict[str, Any]) -> Iterator[Event]:
        """Yield what a line of the rollout says."""
        for entry in entries(record):
            yield from self.take(entry)

    def take(self, entry: Entry) -> Iterator[Event]:
        """Yield what an entry says."""
        if entry.kind in KINDS:
            yield from self.settle(entry)
        self.timed = self.timed or entry.time is not None
        yield from times.dated(self.read(entry), entry.time)

    def end(self, following: Entry | None = None) -> Iterator[Event]:
        """Yield how the thread stands after the entries so far.

        Args:
            following: the entry behind them, which may still change.
        """
        yield from self.settle(following)
        if self.gone:
            yield Abandoned(frozenset(self.gone))
        if self.running:
            yield Ended("aborted")

    def read(self, entry: Entry) -> Iterator[Event]:
        """Yield what an entry says by itself."""
        payload = entry.payload
        match entry.kind:
            case "response_item":
                yield from self.item(entry)
            case "event_msg":
                yield from self.event(entry)
            case "turn_context":
                yield from self.context(payload)
            case "session_meta":
                yield from self.meta(payload)
            case "token_usage_record":
                yield from self.record(entry)
            case "usage":
                if counts := tokens.counts_of(payload):
                    yield Usage(tokens.tokens_of(counts), self.open, self.model, entry.time)
            case "compacted":
                self.close()
                if words := fields.text(payload, "message"):
                    yield Message("system", entry.time, content=words, branch=self.branch(entry), raw=entry.raw)
            case "inter_agent_communication":
                yield from self.between(entry, fields.text(payload, "content") or "")
            case kind if kind not in NOISE:
                yield Unknown()

    def branch(self, entry: Entry) -> int | str:
        """Return the label of the stretch of the conversation an entry belongs to."""
        if self.limit is not None and entry.ordinal is not None and entry.ordinal >= self.limit:
            self.gone.add(REVERTED)
            return REVERTED
        return self.turns[-1] if self.turns else 0

    def close(self) -> None:
        """End the response that is open."""
        self.open, self.worded, self.calling = None, False, False

    def meta(self, payload: dict[str, Any]) -> Iterator[Event]:
        """Yield what the thread says of itself, or that another one's history follows."""
        named = fields.text(payload, "id")
        if named and named != self.session_id:
            self.keys.enter(named)
            if self.parent is None:
                self.parent = named
                yield Info(parent_id=named)
            return
        place = fields.text(payload, "cwd")
        meta = {name: value for key, name in META.items() if (value := fields.text(payload, key))}
        if branch := fields.text(payload, "git", "branch"):
            meta["git_branch"] = branch
        started = None if self.begun else fields.seconds(payload, "timestamp")
        if not self.begun and self.kind == "session" and not fields.table(payload, "history_base"):
            self.keys.scope = fields.text(payload, "forked_from_id") or self.keys.scope
        self.begun, self.placed = True, self.placed or place is not None
        yield Info(project_path=place, started_at=started, meta=meta or None)

    def context(self, payload: dict[str, Any]) -> Iterator[Event]:
        """Yield model and, where nothing else says it, folder of a turn."""
        self.close()
        self.keys.begin(fields.text(payload, "turn_id"))
        yield from self.choose(fields.text(payload, "model"))
        yield from self.place(fields.text(payload, "cwd"))

    def choose(self, model: str | None) -> Iterator[Event]:
        """Yield the model that answers from here on, if it is another one."""
        if model and model != self.model:
            self.model = model
            yield Info(model=model)

    def place(self, path: str | None) -> Iterator[Event]:
        """Yield the working folder, if none is known yet."""
        if path and not self.placed:
            self.placed = True
            yield Info(project_path=path)

    def item(self, entry: Entry) -> Iterator[Event]:
        """Yield what a response item says."""
        payload = entry.payload
        kind, role = fields.text(payload, "type") or "", fields.text(payload, "role")
        self.keys.item(payload)
        if kind == "message" and role == "assistant":
            # Which items make up a response is not recorded: one text a message, with the calls around it.
            self.open = self.keys.response(payload) if self.worded or self.open is None else self.open
            self.worded = True
            yield self.said(entry, content.parts_of(fields.at(payload, "content")))
            if not self.calling:
                # Calls that may never get a result do not keep an answered session waiting.
                yield Ended("completed")
        elif kind == "message" and role == "user":
            self.close()
            self.waiting = entry
        elif kind == "message":
            self.close()
            yield from self.inject(entry, content.parts_of(fields.at(payload, "content")))
        elif kind == "reasoning":
            self.thoughts.extend(filter(None, [content.thought(payload)]))
        elif kind == "agent_message":
            parts = content.parts_of(fields.at(payload, "content"))
            yield from self.between(entry, "\n".join(filter(None, (fields.text(part, "text") for part in parts))))
        elif kind.endswith("_output"):
            self.close()
            told = self.told.pop(fields.text(payload, "call_id") or "", (None, None))
            yield self.message("tool", entry, tool_result=content.result_of(payload, *told))
        elif kind.endswith("_call"):
            self.open = self.open or self.keys.response(payload)
            call = content.call_of(payload, kind)
            yield self.said(entry, content.drawn(payload), call)
            self.calling = self.calling or kind not in content.UNANSWERED
            if call.id:
                self.told[call.id] = (None, None)
                for name in list(self.told)[:-RECENT]:
                    del self.told[name]
        elif kind not in NOISE:
            yield Unknown()

    def said(self, entry: Entry, parts: list[Any], call: ToolCall | None = None) -> Message:
        """Return a piece of the open response."""
        thinking = "\n\n".join(self.thoughts) or None
        self.thoughts.clear()
        self.answered, self.asked = True, False
        calls = None if call is None else [call]
        return self.message(
            "assistant",
            entry,
            key=self.open,
            content=blocks.plain(parts),
            tool_calls=calls,
            thinking=thinking,
            model=self.model,
        )

    def message(self, role: Any, entry: Entry, **more: Any) -> Message:
        """Return the message an item is."""
        id = fields.text(entry.payload, "id")
        return Message(role, entry.time, id, branch=self.branch(entry), raw=entry.raw or entry.payload, **more)

    def inject(self, entry: Entry, parts: list[Any]) -> Iterator[Event]:
        """Yield text that the runtime put in."""
        if parts:
            yield self.message("system", entry, content=blocks.plain(parts))
            yield from self.place(prompts.directory(parts))

    def settle(self, following: Entry | None) -> Iterator[Event]:
        """Yield the user's item that waited for the entry after it."""
        entry, self.waiting = self.waiting, None
        if entry is not None:
            injected, typed = self.marks.sort(entry.payload, following)
            yield from self.inject(entry, injected)
            if typed:
                yield from self.prompt(entry, typed)

    def prompt(self, entry: Entry, parts: list[Any]) -> Iterator[Event]:
        """Yield what a person, or for a sub-agent the thread that started it, asked for; a turn begins."""
        if self.branch(entry) != REVERTED:
            self.last_turn += 1
            self.turns.append(self.last_turn)
        self.asked, self.failed = True, False
        self.thoughts.clear()
        yield self.message("user", entry, key=self.keys.prompt(), content=blocks.plain(parts))
        if self.kind == "subagent" and self.keys.copied and self.keys.is_younger(self.session_id) and not self.titled:
            self.titled = True
            words = " ".join(fields.text(part, "text") or "" for part in parts)
            yield Info(title=" ".join(words.split())[:TITLE_LENGTH], title_rank=TASK_TITLE)

    def between(self, entry: Entry, words: str) -> Iterator[Event]:
        """Yield a message between agents; the one that gives a sub-agent its task is its prompt."""
        self.close()
        kind, header, body = prompts.task(words)
        if self.kind == "subagent" and body.strip() and (kind == "NEW_TASK" or not self.turns):
            yield from self.inject(entry, [blocks.text_part(header)] if header else [])
            yield from self.prompt(entry, [blocks.text_part(body)])
        elif words.strip():
            yield from self.inject(entry, [blocks.text_part(words)])

    def record(self, entry: Entry) -> Iterator[Event]:
        """Yield what a response used, as its own record tells it."""
        payload = entry.payload
        thread = tokens.counts_of(fields.at(payload, "thread_token_usage"))
        used = self.counter.record(fields.at(payload, "usage"), fields.at(payload, "thread_token_usage"))
        response, turn = fields.text(payload, "response_id"), fields.text(payload, "turn_id")
        if used is None:
            return
        if thread:
            key = self.keys.usage(tokens.total_of(thread), turn)
        else:
            key = f"{fields.text(payload, 'thread_id') or self.session_id}:{response or self.keys.chain}"
        yield Usage(tokens.tokens_of(used), key, self.model, entry.time)
        self.close()

    def event(self, entry: Entry) -> Iterator[Event]:
        """Yield what an event says that no response item does."""
        payload = entry.payload
        match fields.text(payload, "type"):
            case "token_count":
                yield from self.count(entry)
            case "task_started" | "turn_started":
                self.close()
                self.keys.begin(fields.text(payload, "turn_id"))
                self.running, self.failed = True, False
            case "task_complete" | "turn_complete":
                failed = self.failed or fields.at(payload, "error") is not None
                silent = self.asked and fields.text(payload, "last_agent_message") is None
                yield from self.stop("error" if failed or silent else "completed")
            case "turn_aborted":
                yield from self.stop("completed" if fields.text(payload, "reason") == "review_ended" else "aborted")
            case "error":
                self.failed = True
                yield Ended("error")
            case "thread_rolled_back":
                yield from self.roll_back(fields.count(payload, "num_turns") or 0)
            case "thread_name_updated" if fields.text(payload, "thread_id") in (None, self.session_id):
                yield Info(title=fields.text(payload, "thread_name"), title_rank=THREAD_NAME)
            case "thread_settings_applied" if self.model is None:
                yield from self.choose(fields.text(payload, "thread_settings", "model"))
            case "item_completed":
                self.hear(fields.text(payload, "item", "id"), {**payload, **fields.table(payload, "item")})
            case "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end":
                self.hear(fields.text(payload, "call_id"), payload)

    def stop(self, how: Ending) -> Iterator[Event]:
        """Yield how a turn ended."""
        self.close()
        self.running = self.failed = self.asked = False
        yield Ended(how)

    def count(self, entry: Entry) -> Iterator[Event]:
        """Yield what was used since the counter was last told."""
        info = fields.at(entry.payload, "info")
        inherited = self.parent is not None and not self.answered
        if used := self.counter.count(info, inherited=inherited):
            total = tokens.counts_of(fields.at(info, "total_token_usage")) or used
            yield Usage(tokens.tokens_of(used), self.keys.usage(tokens.total_of(total)), self.model, entry.time)
            self.close()

    def roll_back(self, turns: int) -> Iterator[Event]:
        """Yield that the last turns were taken back."""
        if turns and self.turns:
            self.gone.update(self.turns[-turns:])
            del self.turns[-turns:]
            yield Abandoned(frozenset(self.gone))
            yield from self.stop("completed")

    def hear(self, call: str | None, payload: dict[str, Any]) -> None:
        """Remember how long a call took and whether it failed, until its output comes."""
        if call in self.told:
            self.told[call] = (content.duration_of(payload), content.failure_of(payload))
