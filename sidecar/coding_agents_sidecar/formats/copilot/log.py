"""The events of a log, in order -> events of its session and of the sub-agents in it.

{type, data, id, timestamp, parentId, agentId?}          agentId, or data.parentToolCallId before it: of a sub-agent

session.start, resume, context_changed, model_change     facts of the session
user.message           content is what was typed; source tells whom else it comes from
assistant.message      one messageId, or several events with it; content, toolRequests, reasoningText
tool.execution_start, execution_complete                 a call while it runs, and its result
session.error, abort   how it stands, whatever a shutdown behind them says
session.shutdown       ends it, until it is resumed; what was used stands in ``usage``
subagent.started, completed, failed                      a sub-agent's beginning and end
session.snapshot_rewind    takes back a prompt and all behind it; newer versions take them out of the file instead
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...model import Abandoned, Ended, Event, Info, Message, Role, Seen, Start, Unknown, Usage
from .. import fields
from ..blocks import plain
from . import content, moments, usage
from .content import real
from .kinds import KNOWN
from .lanes import Lane

Record = dict[str, Any]

TITLE = 1
LAST_TOOL = "task_complete"
"""With it an autonomous run ends; nothing follows."""
BOUNDARIES = ("assistant.turn_end", "abort", "session.error", "session.shutdown", "subagent.completed", "subagent.failed")
"""A response that has not come by then does not come."""
OF_AGENT = ("subagent.started", "subagent.configured", "subagent.completed", "subagent.failed")


class Log:
    """A log while its events come in.

    Args:
        start: its own session.
        state: as ``state`` returned it for a shorter log; ``None`` when it is read from its start.
    """

    def __init__(self, start: Start, state: Record | None = None) -> None:
        state = state or {}
        self.start = start
        self.lanes: dict[str, Lane] = {one[0]: Lane(*one) for one in state.get("lanes", [])}
        self.main = self.lanes.setdefault("", Lane(""))
        self.accounts = usage.Accounts(start.session_id, state.get("accounts"))
        self.project: str | None = state.get("project")
        self.newest: float | None = state.get("newest")
        self.prompts: list[str | None] = list(state.get("prompts", []))
        self.gone: set[int | str] = set(state.get("gone", []))
        self.branch: int = state.get("branch", 0)
        self.current: Lane | None = None
        self.begun: dict[str, float] = {}

    def state(self) -> Record:
        """Return what reading the grown log from here on needs, as JSON-like data."""
        return {
            **{name: getattr(self, name) for name in ("project", "newest", "branch")},
            "lanes": [lane.state() for lane in self.lanes.values()],
            "accounts": self.accounts.state(),
            "prompts": list(self.prompts),
            "gone": sorted(self.gone, key=str),
        }

    def take(self, record: Record) -> Iterator[Event]:
        """Yield what an event says."""
        kind = fields.text(record, "type") or ""
        lane = self.lane_of(kind, record)
        time = fields.seconds(record, "timestamp")
        if time is not None:
            self.newest = max(self.newest or time, time)
        yield from self.enter(lane)
        if kind in BOUNDARIES:
            lane.thoughts.clear()
            yield from lane.flush()
        said = False
        for event in self.read(lane, kind, record, time):
            said = said or isinstance(event, Message)
            yield event
        if time is not None and not said:
            yield Seen(time)

    def end(self, stored: list[tuple[str, Usage]]) -> Iterator[Event]:
        """Yield what only the end tells.

        Args:
            stored: what the runtime's database says that was used, if the log does not.
        """
        for name, used in self.accounts.rest(stored):
            yield from self.enter(self.lanes.get(name, self.main))
            yield used
        for lane in self.lanes.values():
            if lane.waiting or not lane.placed:
                yield from self.enter(lane)
                yield from lane.flush()
        yield from self.enter(self.main)
        if self.newest is not None:
            yield Info(last_activity_at=self.newest)

    @property
    def waits(self) -> bool:
        """Whether the response has not come yet to something that was used."""
        return any(lane.waiting for lane in self.lanes.values())

    def lane_of(self, kind: str, record: Record) -> Lane:
        """Return the conversation that an event belongs to."""
        name = fields.text(record, "agentId") or fields.text(record, "data", "parentToolCallId")
        if name is None and kind in OF_AGENT:
            name = fields.text(record, "data", "toolCallId")
        return self.lanes.setdefault(name, Lane(name)) if name else self.main

    def enter(self, lane: Lane) -> Iterator[Event]:
        """Go to a conversation unless it is the current one."""
        if lane is not self.current:
            self.current = lane
            yield lane.start(self.start)
        if self.project and not lane.placed:
            lane.placed = True
            yield Info(project_path=self.project)

    def locate(self, path: str | None) -> None:
        """Take the project's folder; the first one counts."""
        self.project = self.project or path

    def read(self, lane: Lane, kind: str, record: Record, time: float | None) -> Iterator[Event]:
        """Yield what an event says beside its time."""
        data = fields.table(record, "data")
        match kind:
            case "user.message":
                yield from self.user(lane, record, time)
            case "assistant.message":
                yield from self.assistant(lane, record, time)
            case "assistant.reasoning":
                lane.thoughts.append(fields.text(data, "content") or "")
            case "tool.execution_start":
                if time is not None:
                    self.begun[fields.text(data, "toolCallId") or ""] = time
            case "tool.execution_complete":
                yield from self.result(lane, record, time)
            case "session.usage_record" | "assistant.usage":
                yield from self.used(lane, record)
            case "session.shutdown":
                yield from self.shutdown(record)
            case "session.snapshot_rewind":
                yield from self.rewind(fields.text(data, "upToEventId"))
            case "subagent.started":
                yield from self.agent(lane, data)
            case _ if kind in KNOWN:
                yield from self.fact(lane, kind, data)
                if words := moments.words_of(kind, data):
                    id, branch = fields.text(record, "id"), self.branch_of(lane)
                    yield Message("system", time, id, content=words, branch=branch, raw=record)
                if how := moments.ending_of(kind, data):
                    yield Ended(how)
                if kind == "session.compaction_complete":
                    key = fields.text(record, "id")
                    self.accounts.unsure_of(lane.name, key, lane.model, time, usage.compaction_of(data))
            case _:
                yield Unknown()

    def user(self, lane: Lane, record: Record, time: float | None) -> Iterator[Event]:
        """Yield a prompt, or what the runtime put in the place of one."""
        data, id = fields.table(record, "data"), fields.text(record, "id")
        parts = content.prompt_of(data)
        role: Role = "system" if content.is_injected(data, task=lane is not self.main) else "user"
        if lane is self.main:
            self.prompts.append(id)
            self.branch = len(self.prompts)
        if parts:
            yield Message(role, time, id, content=plain(parts), branch=self.branch_of(lane), raw=record)
        self.locate(content.working_directory(data))

    def assistant(self, lane: Lane, record: Record, time: float | None) -> Iterator[Event]:
        """Yield a response. One that holds nothing, or what only the provider can read, is none."""
        data = fields.table(record, "data")
        words, calls = fields.text(data, "content") or "", content.calls_of(data)
        thinking = fields.text(data, "reasoningText") or "\n\n".join(filter(None, lane.thoughts)) or None
        lane.thoughts.clear()
        if not (words or calls or thinking):
            return
        id, model = fields.text(data, "messageId") or fields.text(record, "id"), real(fields.text(data, "model"))
        call = fields.text(data, "apiCallId")
        fresh = lane.answer(id, call, fields.text(record, "timestamp"))
        branch = self.branch_of(lane)
        yield Message("assistant", time, id, lane.key, words, calls or None, None, thinking, model, branch, record)
        if fresh:
            tokens = usage.tokens_of([None, fields.count(data, "outputTokens"), None, None, None])
            self.accounts.answer(lane.name, lane.key, model, time, tokens)
        if lane.waiting and (call is None or lane.waiting[0] in (None, call)):
            yield replace(lane.waiting[1], key=lane.key or lane.waiting[1].key, aside=model is not None)
            lane.waiting, lane.metered = None, True
        yield from lane.flush()
        lane.closing += [one.id for one in calls if one.name == LAST_TOOL and one.id]
        if not calls:
            # Whatever has been called before, the model does not wait for it.
            yield Ended("completed")

    def used(self, lane: Lane, record: Record) -> Iterator[Event]:
        """Yield what an API call used, once it is clear which response it led to."""
        told = self.accounts.record(lane.name, record)
        if told is None:
            return
        yield from lane.flush()
        call, amounts = told
        if call is not None and call == lane.call and lane.key and not lane.metered:
            lane.metered = True
            yield replace(amounts, key=lane.key)
        else:
            lane.waiting = told

    def result(self, lane: Lane, record: Record, time: float | None) -> Iterator[Event]:
        """Yield what a tool answered. One that a person called directly is no part of the conversation."""
        data, id = fields.table(record, "data"), fields.text(record, "id")
        call = fields.text(data, "toolCallId") or ""
        began = self.begun.pop(call, None)
        took = round((time - began) * 1000) if time is not None and began is not None and time >= began else None
        answer = content.result_of(data, took)
        branch = self.branch_of(lane)
        if fields.flag(data, "isUserRequested"):
            yield Message("system", time, id, content=answer.output, branch=branch, raw=record)
            return
        yield Message("tool", time, id, tool_result=answer, branch=branch, raw=record)
        yield from lane.choose(fields.text(data, "model"))
        if call in lane.closing:
            lane.closing.remove(call)
            if not answer.is_error:
                yield Ended("completed")

    def shutdown(self, record: Record) -> Iterator[Event]:
        """Yield what was used, and whether the runtime broke down."""
        data = fields.table(record, "data")
        for name, amounts in self.accounts.shutdown(record, self.lanes):
            yield from self.enter(self.lanes[name])
            yield amounts
        yield from self.enter(self.main)
        if self.main.model is None:
            models = list(fields.table(data, "modelMetrics"))
            yield from self.main.choose(fields.text(data, "currentModel") or (models[0] if len(models) == 1 else None))
        if fields.text(data, "shutdownType") == "error":
            yield Ended("error")

    def agent(self, lane: Lane, data: Record) -> Iterator[Event]:
        """Yield what is known of a sub-agent when it starts."""
        if lane is self.main:
            return
        parent = fields.text(data, "parentId")
        if parent in self.lanes and parent != lane.name:
            lane.parent = parent
            yield lane.start(self.start)
        told = {
            "agent_type": fields.text(data, "agentType") or fields.text(data, "agentName"),
            "tool_call_id": fields.text(data, "toolCallId"),
        }
        meta = {name: value for name, value in told.items() if value}
        yield Info(title=fields.text(data, "agentDescription"), title_rank=TITLE, meta=meta)
        yield from lane.choose(fields.text(data, "model"))

    def fact(self, lane: Lane, kind: str, data: Record) -> Iterator[Event]:
        """Yield a fact about the session."""
        match kind:
            case "session.start":
                yield from self.begin(data)
            case "session.resume":
                self.locate(fields.text(data, "context", "cwd"))
                yield from lane.choose(fields.text(data, "selectedModel"))
            case "session.context_changed":
                self.locate(fields.text(data, "cwd"))
            case "session.model_change":
                yield from lane.choose(fields.text(data, "newModel"))
            case "subagent.configured":
                yield from lane.choose(fields.text(data, "model"))
            case "session.title_changed":
                yield Info(title=fields.text(data, "title"), title_rank=TITLE)
            case "session.info" if found := content.TRUSTED.search(fields.text(data, "message") or ""):
                self.locate(found[1])
            case "system.message":
                self.locate(content.working_directory(data))

    def begin(self, data: Record) -> Iterator[Event]:
        """Yield what the session says of itself when it starts."""
        context = fields.table(data, "context")
        self.locate(fields.text(context, "cwd"))
        told = {
            "version": fields.text(data, "copilotVersion"),
            "git_branch": fields.text(context, "branch"),
            "repository": fields.text(context, "repository"),
        }
        yield Info(
            started_at=fields.seconds(data, "startTime"),
            parent_id=fields.text(data, "detachedFromSpawningParentSessionId"),
            meta={name: value for name, value in told.items() if value},
        )
        yield from self.main.choose(fields.text(data, "selectedModel"))

    def branch_of(self, lane: Lane) -> int:
        """Return the stretch of the conversation that a message belongs to."""
        return self.branch if lane is self.main else 0

    def rewind(self, prompt: str | None) -> Iterator[Event]:
        """Yield that a prompt and all behind it were taken back."""
        if prompt is None or prompt not in self.prompts:
            return
        first = self.prompts.index(prompt) + 1
        self.gone.update(range(first, len(self.prompts) + 1))
        self.branch = max(set(range(first)) - self.gone, default=0)
        yield Abandoned(frozenset(self.gone))
        yield Ended("completed")
