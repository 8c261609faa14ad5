"""Qwen Code: one append-only JSONL file a session. It came from Gemini CLI; only the oldest versions write its files.

<base>/projects/<project>/chats/<session id>.jsonl             0.5 and newer; <base> is ~/.qwen
<base>/projects/<project>/chats/archive/<session id>.jsonl     put away
<base>/projects/<project>/subagents/<session id>/agent-<id>.jsonl    and agent-<id>.meta.json
<base>/tmp/<hash>/chats/session-….json                         before, see ``formats.gemini``

uuid, parentUuid      the records form a tree: a rewind goes on at an earlier record, nothing is ever taken out
type user             a prompt; with most subtypes, or another provenance, text the runtime put in
type assistant        an API response, with usageMetadata; a sub-agent's calls are records of their own
type tool_result      function responses; toolCallResult tells more of a single one
type system           a moment, told by its subtype; ui_telemetry repeats what assistant records say, and tells of errors
isSidechain           on the first line: a sub-agent's file; sessionId is the parent's
forkedFrom            on copied records, which keep their uuid
"""

import os
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from ..adapter import Adapter, Root, Source
from ..formats import beside, fields, genai, jsonl, places, times
from ..formats.blocks import plain
from ..formats.branches import Branches
from ..formats.gemini import chats
from ..formats.gemini.prompts import Prompt
from ..model import Abandoned, Checkpoint, Ended, Ending, Event, Info, Message, Role, Stale, Start, Unknown, Usage

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

TYPED = (None, "mid_turn_user_message", "realtime_message")
"""Subtypes of user records that hold what a person said."""

META = {"version": "version", "gitBranch": "git_branch"}
AGENT_META = {"agentType": "agent_type", "toolUseId": "tool_call_id"}
META_LIMIT = 1 << 20
MANUAL_TITLE, AUTO_TITLE = 2, 1
TURNS: dict[str, Ending] = {"completed": "completed", "cancelled": "aborted", "error": "error"}
AGENTS: dict[str, Ending] = {"completed": "completed", "cancelled": "aborted", "failed": "error"}
"""How a turn and how a sub-agent ended, in the runtime's words."""

FAILED = ("error", "cancelled")
HEAD_LINES = 20
"""So many lines are looked at for the first whole one, which tells whose file it is."""

Record = dict[str, Any]


class Qwen(Adapter):
    """Sessions of the command line, the editor extensions and the daemon: they share one store."""

    name = "qwen"
    title = "Qwen Code"
    evidence = "files written by Qwen Code 0.5.0 and 0.15.10; QwenLM/qwen-code at 015346f"
    # The default is read even where a variable names another folder: older sessions stay behind.
    stores = tuple(
        Root(f"~/.qwen/{folder}", env=variable, below=folder)
        for folder in ("projects", "tmp")
        for variable in ("QWEN_RUNTIME_DIR", "QWEN_HOME", "")
    )
    never_open = ("oauth_creds.json", "google_accounts.json", "*-oauth-tokens*.json", "settings*.json", ".env*")

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        if os.path.basename(root.path) == "tmp":
            yield from chats.sources(root)
            return
        for found in places.walk(root.path, is_session):
            if isinstance(found, places.Unlisted):
                yield found
            else:
                yield Source(found, root.path, (found, meta_file(found)), root.origin)

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        if os.path.basename(source.root) == "tmp":
            return chats.Chat(source, resume).events()
        return Reader(source, resume).events()


def is_session(path: str) -> bool:
    """Return whether a path below a root is a session's or a sub-agent's file."""
    place = path.split(os.sep)
    stem, extension = os.path.splitext(place[-1])
    # Beside a session lie its ledger, <id>.ledger.jsonl, and other notes.
    if extension != ".jsonl" or "." in stem or len(place) < 3:
        return False
    return place[1] == "chats" or (place[1] == "subagents" and stem.startswith("agent-"))


def meta_file(path: str) -> str:
    """Return where a sub-agent's description lies."""
    return f"{path.removesuffix('.jsonl')}.meta.json"


def link(record: Record) -> tuple[str | None, str | None]:
    """Return the ids of a record and of its parent."""
    return fields.text(record, "uuid"), fields.text(record, "parentUuid")


class Reader:
    """A file while it is read.

    Args:
        resume: where to go on; ``None`` begins at the file's start.
    """

    def __init__(self, source: Source, resume: Checkpoint | None) -> None:
        self.source = source
        self.offset = resume.offset if resume else 0
        state = resume.state if resume else {}
        self.branches = Branches(state.get("branches"))
        self.told: dict[str, str] = {}
        self.place = os.path.relpath(source.path, source.root).split(os.sep)
        self.stem = self.place[-1].removesuffix(".jsonl")
        lines = islice(jsonl.records(source.path), HEAD_LINES)
        self.head = next((line.record for line in lines if isinstance(line, jsonl.Line)), {})
        self.is_agent = self.place[1] == "subagents" or fields.flag(self.head, "isSidechain")
        self.about = self.read_about() if self.is_agent else {}
        if resume and state.get("about") != self.about:
            raise Stale

    def read_about(self) -> Record:
        """Return what the runtime noted of the sub-agent."""
        folder, name = os.path.split(meta_file(self.source.path))
        data = beside.read(folder, name, limit=META_LIMIT)
        meta = fields.table(jsonl.load(data)) if data else {}
        names = ("description", "parentAgentId", "model", "status", *AGENT_META)
        return {name: value for name in names if (value := fields.text(meta, name))}

    def start(self) -> Start:
        """Return the session of the file."""
        if not self.is_agent:
            return Start(self.stem, preference=0 if self.archived else 1)
        own = self.stem.removeprefix("agent-")
        main = self.place[2] if self.place[1] == "subagents" and len(self.place) > 3 else fields.text(self.head, "sessionId")
        if main is None:
            return Start(own, "subagent")
        outer = self.about.get("parentAgentId", own)
        return Start(f"{main}/{own}", "subagent", main if outer == own else f"{main}/{outer}")

    @property
    def archived(self) -> bool:
        """Whether a person put the session away."""
        return self.place[1:-1] == ["chats", "archive"]

    def events(self) -> Iterator[Event]:
        """Yield what the file says from the offset on."""
        yield self.start()
        yield from self.known()
        lines = jsonl.records(self.source.path, self.offset)
        yield from jsonl.follow(lines, self.offset, self.record, self.settle, self.state)

    def state(self) -> dict[str, Any]:
        """Return what reading the grown file from here on needs."""
        return {"branches": self.branches.state(), "about": self.about}

    def known(self) -> Iterator[Event]:
        """Yield what place and notes tell before any record does."""
        if self.archived:
            yield Info(archived=True)
        if self.about:
            meta = {name: self.about[key] for key, name in AGENT_META.items() if key in self.about}
            title, model = self.about.get("description"), self.about.get("model")
            yield Info(title=title, title_rank=MANUAL_TITLE, model=model, meta=meta)

    def settle(self) -> Iterator[Event]:
        """Say which branches the conversation has left, and how a sub-agent ended, as far as the file goes."""
        yield Abandoned(self.branches.abandoned())
        if how := AGENTS.get(self.about.get("status", "")):
            yield Ended(how)

    def record(self, record: Record) -> Iterator[Event]:
        """Yield what one record says."""
        yield from self.facts(record)
        match fields.text(record, "type"):
            case "user":
                events = self.user(record)
            case "assistant":
                events = self.assistant(record)
            case "tool_result":
                events = self.results(record, self.branches.place(*link(record)))
            case kind:
                if kind != "system":
                    yield Unknown()
                events = self.moment(record)
        yield from times.dated(events, fields.seconds(record, "timestamp"))

    def facts(self, record: Record) -> Iterator[Event]:
        """Yield what any record may say of its session beside its message, as far as it is news."""
        told = self.told
        if "cwd" not in told and (path := fields.text(record, "cwd")):
            told["cwd"] = path
            yield Info(project_path=path)
        news = {name: value for key, name in META.items() if (value := fields.text(record, key)) and told.get(name) != value}
        if news:
            told.update(news)
            yield Info(meta=news)
        parent = fields.text(record, "forkedFrom", "sessionId")
        if parent and not self.is_agent and parent != told.get("parent"):
            told["parent"] = parent
            yield Info(parent_id=parent)

    def user(self, record: Record) -> Iterator[Event]:
        """Yield text the runtime put in, then what a person typed."""
        typed = (
            fields.text(record, "subtype") in TYPED
            and fields.text(record, "provenance") in (None, "real_user")
            and fields.text(record, "externalInputKind") != "notification"
        )
        branch = self.branches.prompt(*link(record)) if typed else self.branches.place(*link(record))
        yield from self.results(record, branch)
        said = genai.Parts(fields.at(record, "message", "parts"))
        display = genai.Parts(fields.at(record, "systemPayload", "displayText")).shown
        prompt = Prompt(said.shown, display, injected=not typed)
        id, time = fields.text(record, "uuid"), fields.seconds(record, "timestamp")
        said_by: tuple[tuple[Role, list[Any]], ...] = (("system", prompt.injected), ("user", prompt.typed))
        for role, parts in said_by:
            if parts:
                yield Message(role, time, id, content=plain(parts), branch=branch, raw=record)

    def assistant(self, record: Record) -> Iterator[Event]:
        """Yield an API response."""
        id, time, model = fields.text(record, "uuid"), fields.seconds(record, "timestamp"), fields.text(record, "model")
        branch = self.branches.answer(*link(record))
        said = genai.Parts(fields.at(record, "message", "parts"))
        content, calls = plain(said.shown), said.calls or None
        role: Role = "assistant" if content or calls or said.thinking else "system"
        key = self.key(record)
        yield Message(role, time, id, key, content, calls, None, said.thinking, model, branch, record)
        if tokens := genai.tokens_of(fields.at(record, "usageMetadata")):
            yield Usage(tokens, key, model, time)

    def key(self, record: Record) -> str | None:
        """Return what a response is known by in every session that holds it: its uuid, which copies keep."""
        id = fields.text(record, "uuid")
        if id is None or UUID.fullmatch(id):
            return id
        # Any other id is only known to be the session's own, or that of the session it was copied from.
        return f"{fields.text(record, 'forkedFrom', 'sessionId') or self.start().session_id}/{id}"

    def results(self, record: Record, branch: int) -> Iterator[Event]:
        """Yield the results of tools. What the record says beside its parts belongs to a result only when it is alone."""
        said = genai.Parts(fields.at(record, "message", "parts"))
        more = fields.table(record, "toolCallResult") if len(said.results) == 1 else {}
        for result in said.results:
            result.tool_call_id = result.tool_call_id or fields.text(more, "callId")
            result.is_error = result.is_error or fields.text(more, "status") in FAILED
            result.duration_ms = fields.count(more, "durationMs")
            id, time = fields.text(record, "uuid"), fields.seconds(record, "timestamp")
            yield Message("tool", time, id, tool_result=result, branch=branch, raw=record)

    def moment(self, record: Record) -> Iterator[Event]:
        """Yield what a record of the runtime's own says."""
        subtype, payload = fields.text(record, "subtype"), fields.table(record, "systemPayload")
        if subtype == "rewind":
            # It hangs where the conversation goes on, as a prompt there would.
            self.branches.prompt(*link(record))
            return
        branch = self.branches.place(*link(record))
        match subtype:
            case "custom_title":
                auto = fields.text(payload, "titleSource") == "auto"
                yield Info(title=fields.text(payload, "customTitle"), title_rank=AUTO_TITLE if auto else MANUAL_TITLE)
            case "parent_session" if not fields.at(record, "forkedFrom"):
                yield Info(parent_id=fields.text(payload, "parentSessionId"))
            case "session_model":
                yield Info(model=fields.text(payload, "modelId"))
            case "turn_result" if how := TURNS.get(fields.text(payload, "state") or ""):
                yield Ended(how)
            case "ui_telemetry" if is_failure(fields.table(payload, "uiEvent")):
                yield Ended("error")
            case "chat_compression":
                yield from self.say(fields.at(payload, "compressedHistory", 0, "parts"), record, branch)
            case "slash_command":
                shown = [fields.text(item, "text") or "" for item in fields.rows(payload, "outputHistoryItems")]
                invoked = fields.text(payload, "phase") == "invocation"
                yield from self.say(fields.at(payload, "rawCommand") if invoked else shown, record, branch)

    def say(self, content: Any, record: Record, branch: int) -> Iterator[Event]:
        """Yield text of the runtime's, if there is any."""
        if parts := genai.Parts(content).shown:
            id, time = fields.text(record, "uuid"), fields.seconds(record, "timestamp")
            yield Message("system", time, id, content=plain(parts), branch=branch, raw=record)


def is_failure(event: Record) -> bool:
    """Return whether telemetry tells of a failed request of the session's own; side calls bear a name."""
    name = fields.text(event, "event.name") or ""
    return name.endswith(".api_error") and fields.text(event, "subagent_name") is None
