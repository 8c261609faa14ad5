"""Claude Code: one append-only JSONL file a session, its sub-agents in files of their own beside it.

<root>/<project>/<session id>.jsonl
<root>/<project>/<session id>/subagents/**/agent-<agent id>.jsonl   and agent-<agent id>.meta.json
<root>/<project>/agent-<agent id>.jsonl                              1.0.100 to 2.1.2x; sessionId is the parent's
<root>/<project>/<session id>/tool-results/<name>                    long tool output, out of the records

uuid, parentUuid      the records form a tree: a rewind starts a new branch, nothing is ever taken out
type user             a prompt, tool results, or text the runtime put in; message.content is text or blocks
type assistant        one block of an API response; the lines of one response share message.id
type attachment       queued_command is a prompt typed while a tool ran, every other one is noise
type system           local_command is a slash command or its output, every other one only marks a moment
custom-title, ai-title, summary, tag, pr-link        facts; the last one counts
isSidechain           in a session's own file (1.0.x): a sub-agent's record; it has a root of its own
message.usage         of the whole response, early lines hold less; input_tokens is without cache
model <synthetic>     the runtime speaking in the model's place: API errors, interruptions
"""

from collections.abc import Iterator
from typing import Any

from ..adapter import Adapter, Root, Source
from ..formats import blocks, fields, jsonl, places, times
from ..formats.blocks import Blocks, plain
from ..formats.branches import Branches
from ..formats.claude import layout, spill
from ..formats.claude.injected import Spoken
from ..formats.claude.sides import Sides
from ..model import (
    Abandoned,
    Checkpoint,
    Ended,
    Event,
    Info,
    Message,
    Role,
    Skipped,
    Stale,
    Start,
    ToolResult,
    Unknown,
    Usage,
)

META = {"version": "version", "gitBranch": "git_branch", "entrypoint": "entrypoint", "permissionMode": "permission_mode"}
AGENT_META = {"agentType": "agent_type", "toolUseId": "tool_call_id", "worktreePath": "worktree"}
CUSTOM_TITLE, AI_TITLE, SUMMARY, COMMAND = 3, 2, 1, 0
INJECTED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")

KNOWN = {
    *("attachment", "system", "custom-title", "ai-title", "summary", "tag", "pr-link", "progress", "file-history-snapshot"),
    *("queue-operation", "last-prompt", "mode", "permission-mode", "agent-setting", "agent-name", "worktree-state"),
    "content-replacement",
}
"""Types of records that are no turn of user or assistant."""

Record = dict[str, Any]


class ClaudeCode(Adapter):
    """Sessions of the command line, the desktop app, the editor extensions and the SDK: they share one store."""

    name = "claude-code"
    title = "Claude Code"
    aliases = ("claude",)
    evidence = "files written by Claude Code 1.0.64, 2.0.42, 2.1.61 and 2.1.197; anthropics/claude-agent-sdk-python at e8bde60"
    # The default is read even where the variable names another folder: older sessions stay behind.
    stores = (
        Root("~/.claude/projects", env="CLAUDE_CONFIG_DIR", below="projects"),
        Root("~/.claude/projects"),
        Root("$XDG_CONFIG_HOME/claude/projects"),
    )
    never_open = (".credentials.json", ".claude.json", "settings*.json")

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        for found in places.walk(root.path, layout.is_session):
            yield found if isinstance(found, places.Unlisted) else Source(found, root.path, layout.files_of(found), root.origin)

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        """Yield the events of a file.

        Tool output that lies in a file of its own is read only when a session is asked for: the index does not need it.
        """
        wanted = True
        for event in Reader(source, whole=session_id is not None, resume=resume).events():
            if isinstance(event, Start):
                wanted = session_id in (None, event.session_id)
            if wanted:
                yield event


def ids(record: Record) -> tuple[str | None, str | None]:
    """Return the ids of a record and of its parent."""
    return fields.text(record, "uuid"), fields.text(record, "parentUuid")


class Reader:
    """A file while it is read.

    Args:
        whole: the messages are wanted, with all that belongs to them.
        resume: where to go on; ``None`` begins at the file's start.
    """

    def __init__(self, source: Source, *, whole: bool, resume: Checkpoint | None) -> None:
        self.path = source.path
        self.whole = whole
        self.resumed = resume is not None
        self.offset = resume.offset if resume else 0
        state = resume.state if resume else {}
        self.branches = Branches(state.get("branches"))
        self.sides = Sides(self.branches, state.get("sides"))
        self.summaries: dict[str, str] = dict(state.get("summaries", {}))
        self.answered: bool = state.get("answered", False)
        self.told: dict[str, str] = {}
        self.current: str | None = None
        self.inline = False
        self.file = layout.place_of(source)

    def state(self) -> dict[str, Any]:
        """Return what reading the grown file from here on needs."""
        return {
            "branches": self.branches.state(),
            "sides": self.sides.state(),
            "summaries": dict(self.summaries),
            "answered": self.answered,
        }

    def events(self) -> Iterator[Event]:
        """Yield what the file says from the offset on."""
        yield from self.enter(self.file.start)
        if self.file.agent:
            meta = {name: value for key, name in AGENT_META.items() if (value := fields.text(self.file.meta, key))}
            yield Info(title=fields.text(self.file.meta, "description"), title_rank=CUSTOM_TITLE, meta=meta)
        lines = jsonl.records(self.path, self.offset)
        for event in jsonl.follow(lines, self.offset, self.record, self.settle, self.state):
            if isinstance(event, Skipped):
                # Nothing tells whose record it was: it counts for the session whose file it is.
                yield from self.enter(self.file.start)
            yield event

    def enter(self, start: Start) -> Iterator[Event]:
        """Go to a session unless it is the current one."""
        if self.current != start.session_id:
            self.current = start.session_id
            self.told = {}
            yield start

    def settle(self) -> Iterator[Event]:
        """Say which branches the conversation has left, as far as the file goes."""
        yield from self.enter(self.file.start)
        yield Abandoned(self.branches.abandoned())

    def record(self, record: Record) -> Iterator[Event]:
        """Yield what one record says."""
        self.inline = not self.file.agent and fields.flag(record, "isSidechain")
        yield from self.enter_side(record) if self.inline else self.enter(self.file.start)
        kind = fields.text(record, "type")
        yield from self.facts(record, kind)
        read = self.user if kind == "user" else self.assistant if kind == "assistant" else self.other
        yield from times.dated(read(record), fields.seconds(record, "timestamp"))
        if self.summaries and (title := self.summaries.pop(fields.text(record, "uuid") or "", None)):
            yield Info(title=title, title_rank=SUMMARY)

    def enter_side(self, record: Record) -> Iterator[Event]:
        """Go to the inline sub-agent that a record belongs to."""
        name, begins = self.sides.place(*ids(record), fields.text(record, "agentId"))
        yield from self.enter(Start(f"{self.file.main}/{name}", "subagent", self.file.main))
        if begins:
            prompt = plain(blocks.parts_of(fields.at(record, "message", "content")))
            yield Info(title=self.sides.title(prompt), title_rank=CUSTOM_TITLE)

    def facts(self, record: Record, kind: str | None) -> Iterator[Event]:
        """Yield what any record may say of its session beside its message, as far as it is news."""
        told = self.told
        if "cwd" not in told and (path := fields.text(record, "cwd")):
            told["cwd"] = path
            yield Info(project_path=path)
        if kind not in ("user", "assistant"):
            return
        news = {name: value for key, name in META.items() if (value := fields.text(record, key)) and told.get(name) != value}
        if news:
            told.update(news)
            yield Info(meta=news)
        if self.inline or self.file.agent:
            return
        parent = fields.text(record, "forkedFrom", "sessionId") or fields.text(record, "sessionId")
        if parent not in (None, self.file.main, told.get("parent")):
            told["parent"] = parent
            yield Info(parent_id=parent)

    def other(self, record: Record) -> Iterator[Event]:
        """Yield what a record says that is a turn of neither user nor assistant."""
        branch = self.place(record)
        match fields.text(record, "type"):
            case "attachment" if fields.text(record, "attachment", "type") == "queued_command":
                queued = fields.table(record, "attachment")
                injected = fields.flag(queued, "isMeta") or (fields.text(queued, "commandMode") or "prompt") != "prompt"
                yield from self.turn(Spoken(fields.at(queued, "prompt"), injected=injected), record, branch)
            case "system" if fields.text(record, "subtype") == "local_command":
                yield from self.say(Spoken(fields.at(record, "content"), injected=True), record, branch)
            case "custom-title":
                yield Info(title=fields.text(record, "customTitle"), title_rank=CUSTOM_TITLE)
            case "ai-title":
                yield Info(title=fields.text(record, "aiTitle"), title_rank=AI_TITLE)
            case "summary":
                yield from self.summary(record)
            case "tag" if isinstance(tag := fields.at(record, "tag"), str):
                yield Info(tags=(tag,) if tag else ())
            case "pr-link" if link := fields.text(record, "prUrl"):
                yield Info(meta={"pull_request": link})
            case kind if kind not in KNOWN:
                yield Unknown()

    def place(self, record: Record, *, prompt: bool = False, answer: bool = False) -> int:
        """Return the stretch of the conversation a record belongs to."""
        if self.inline:
            return 0
        step = self.branches.prompt if prompt else self.branches.answer if answer else self.branches.place
        return step(*ids(record))

    def summary(self, record: Record) -> Iterator[Event]:
        """Take a summary as title when it is of this file: the runtime writes those of other sessions into it as well."""
        leaf, title = fields.text(record, "leafUuid"), fields.text(record, "summary")
        if leaf is None or title is None:
            return
        if leaf in self.branches.places:
            yield Info(title=title, title_rank=SUMMARY)
        elif self.resumed:
            raise Stale
        else:
            self.summaries[leaf] = title[:200]

    def user(self, record: Record) -> Iterator[Event]:
        """Yield tool results, injected text and prompt of a user record."""
        said = Blocks(fields.at(record, "message", "content"))
        spoken = Spoken(said.parts, injected=any(fields.flag(record, name) for name in INJECTED))
        branch = self.place(record)
        for block in said.results:
            yield self.result(block, record, branch, alone=len(said.results) == 1)
        yield from self.turn(spoken, record, branch)

    def turn(self, spoken: Spoken, record: Record, branch: int) -> Iterator[Event]:
        """Yield a record's text, which begins a stretch of the conversation when a person asked for something."""
        if spoken.typed or spoken.command:
            branch = self.place(record, prompt=True)
        if spoken.command and not self.answered:
            yield Info(title=f"/{spoken.command}", title_rank=COMMAND)
        yield from self.say(spoken, record, branch)

    def say(self, spoken: Spoken, record: Record, branch: int) -> Iterator[Event]:
        """Yield what the runtime put in, then what a person typed."""
        time = fields.seconds(record, "timestamp") or fields.seconds(record, "attachment", "timestamp")
        said: tuple[tuple[Role, list[Any]], ...] = (("system", spoken.injected), ("user", spoken.typed))
        for role, parts in said:
            if parts:
                yield Message(role, time, fields.text(record, "uuid"), content=plain(parts), branch=branch, raw=record)
        if spoken.interrupted:
            yield Ended("aborted")

    def assistant(self, record: Record) -> Iterator[Event]:
        """Yield one line of an API response, or what the runtime put in its place."""
        message = fields.table(record, "message")
        model = fields.text(message, "model")
        failed = fields.flag(record, "isApiErrorMessage")
        if failed or model == "<synthetic>":
            yield from self.say(Spoken(fields.at(message, "content"), injected=True), record, self.place(record))
            if failed:
                yield Ended("error")
            return
        uuid, time = fields.text(record, "uuid"), fields.seconds(record, "timestamp")
        key = fields.text(message, "id") or (f"uuid:{uuid}" if uuid else None)
        branch = self.place(record, answer=True)
        said = Blocks(fields.at(message, "content"))
        summary = fields.flag(record, "isCompactSummary")
        role: Role = "system" if summary or (said.empty and not fields.text(message, "stop_reason")) else "assistant"
        calls = said.calls or None
        yield Message(role, time, uuid, key, plain(said.parts), calls, None, said.thinking, model, branch, record)
        self.answered = True
        for call in said.calls:
            self.sides.called(call)
        for block in said.results:
            yield self.result(block, record, branch, alone=False)
        if said.results and said.goes_on:
            yield Message(role, time, uuid, key, model=model, branch=branch)
        if tokens := blocks.tokens_of(fields.at(message, "usage")):
            yield Usage(tokens, key, model, time)

    def result(self, block: Any, record: Record, branch: int, *, alone: bool) -> Message:
        """Return a tool's result. What the record says beside its blocks belongs to a result only when it is alone."""
        call = fields.text(block, "tool_use_id")
        self.sides.answered(call)
        output = blocks.output_of(fields.at(block, "content"))
        if self.whole and self.file.main:
            output = spill.restored(output, self.file.project, self.file.main, "tool-results")
        took = duration(fields.at(record, "toolUseResult")) if alone else None
        answer = ToolResult(call, output, blocks.failed(block), duration_ms=took)
        uuid, time = fields.text(record, "uuid"), fields.seconds(record, "timestamp")
        return Message("tool", time, uuid, tool_result=answer, branch=branch, raw=record)


def duration(result: Any) -> int | None:
    """Return how long a tool ran, in milliseconds, where it says so itself."""
    took = fields.count(result, "durationMs")
    took = fields.count(result, "totalDurationMs") if took is None else took
    seconds = fields.number(result, "durationSeconds")
    return round(seconds * 1000) if took is None and seconds is not None else took
