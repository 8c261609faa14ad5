"""A task of the classic form while it is read: one folder, two arrays. Roo's differences stand in ``roo``.

The API's history tells the conversation, the rows that were shown tell times, usage and how the task stands. Where one of
the two is lost the other tells what it can.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from ...fold import plain
from ...model import Ended, Ending, Event, Info, Kind, Message, Seen, Skipped, Start, Tokens, Usage
from .. import fields, jsonl
from . import arrays, rows
from .conversation import Answer, Conversation
from .requests import Choice, Request, by_provider, cost_of, counts_of, paired, requests, told
from .shapes import blocks_of
from .storage import API, EARLIER, METADATA, SHOWN, TaskSource

COPIED, ORIGINAL = 1, 0
"""Preference for one session in the store since 4.0 and in a task's folder."""

HEADING = re.compile(r"^# Current (?:Working|Workspace) Directory \((.+)\) Files", re.MULTILINE)
"""In the state of the editor, which every prompt is sent with."""


class Task:
    """A task of Cline's."""

    def __init__(self, source: TaskSource) -> None:
        self.source = source
        self.id = os.path.basename(source.folder)
        earlier = self.file(EARLIER)
        has_roles = any(fields.text(record, "role") for record in earlier.items)
        self.api = self.file(API)
        self.shown = self.file(SHOWN)
        if has_roles and not self.api.items:
            self.api = earlier
        elif not has_roles and not self.shown.items:
            self.shown = earlier
        self.metadata = arrays.document(os.path.join(source.folder, METADATA)) or {}
        self.item = fields.table(jsonl.load(source.item.encode())) if source.item else {}
        self.choices = list(choices_in(self.metadata))
        self.requests = requests(self.shown.items, self.choices, self.count)

    def file(self, name: str) -> arrays.Rows:
        """Return what a file of the task holds."""
        return arrays.read(os.path.join(self.source.folder, name)) or arrays.Rows()

    def count(self, data: Any, request: Request) -> Tokens | None:
        """Return the tokens in a row's JSON."""
        return by_provider(data, request)

    def events(self) -> Iterator[Event]:
        """Yield what the folder says."""
        kind, parent = self.descent()
        yield Start(self.id, kind, parent, preference=ORIGINAL)
        yield from self.damage()
        title = rows.title(fields.text(self.item, "task") or rows.prompt(self.shown.items))
        yield self.facts(title)
        for time in rows.times(self.shown.items):
            yield Seen(time)
        for event in self.conversation() if self.api.items else self.shown_conversation():
            yield event
            if title is None and isinstance(event, Message) and event.role == "user":
                title = rows.title(plain(event.content))
                yield Info(title=title)
        if not self.shown.items:
            yield self.totals()
        if ending := self.ending():
            yield Ended(ending)

    def descent(self) -> tuple[Kind, str | None]:
        """Return the kind of the task and its parent. Nothing tells of Cline's that one began another."""
        return "session", None

    def damage(self) -> Iterator[Event]:
        """Yield what was lost. Only the rows, or the only file, tell that a task is cut off."""
        for file in (self.api, self.shown):
            if file.damaged:
                yield Skipped("what stands behind the last whole record")
        if self.shown.damaged or (self.api.damaged and not self.shown.items):
            yield Skipped("the end of the task", tail=True)

    def facts(self, title: str | None) -> Info:
        """Return what is known of the task beside its messages."""
        last = next(reversed(self.choices), None)
        environment = fields.at(self.metadata, "environment_history", -1)
        meta = {
            "provider": self.provider() or (last.provider if last else None),
            "version": fields.text(environment, "cline_version"),
            "mode": fields.text(self.item, "mode"),
            "approximate_tokens": True if any(request.doubtful for request in self.requests) else None,
        }
        return Info(
            project_path=self.project(),
            title=title,
            model=(last.model if last else None) or fields.text(self.item, "modelId"),
            started_at=self.started(),
            meta={name: value for name, value in meta.items() if value is not None} or None,
        )

    def provider(self) -> str | None:
        """Return the provider of the last response that names one."""
        return next(filter(None, (fields.text(record, "modelInfo", "providerId") for record in reversed(self.api.items))), None)

    def project(self) -> str | None:
        """Return the folder the task was begun in."""
        prompt = next((record for record in self.api.items if fields.text(record, "role") == "user"), None)
        first = next((row for row in self.shown.items if fields.text(row, "say") == "api_req_started"), None)
        return (
            fields.text(self.item, "cwdOnTaskInitialization")
            or project_in(fields.at(prompt, "content"))
            or project_in(fields.at(told(first), "request"))
            or fields.text(self.item, "shadowGitConfigWorkTree")
        )

    def started(self) -> float | None:
        """Return when the task was made, also where its messages are copies of older ones."""
        return rows.born(self.source.folder) or fields.seconds(self.shown.items, 0, "ts")

    def conversation(self) -> Iterator[Event]:
        """Yield messages and usage by the API's history."""
        records = self.api.items
        responses = [index for index, record in enumerate(records) if self.is_response(record)]
        pairs = paired([fields.seconds(records[index], "ts") for index in responses], self.requests)
        asked = dict(zip(responses, map(pairs.get, range(len(responses))), strict=True))
        talk = Conversation()
        for index, record in enumerate(records):
            time = fields.seconds(record, "ts")
            match fields.text(record, "role"):
                case _ if self.is_summary(record):
                    yield from talk.summarized(record, time)
                case "user" | "tool":
                    self.hear(record)
                    # Older records have no time; they were sent with the request that follows.
                    sent = asked.get(index + 1)
                    yield from talk.asked(record, sent.time if time is None and sent else time)
                case "assistant":
                    following = records[index + 1] if index + 1 < len(records) else None
                    model = self.model(record, asked[index])
                    yield from talk.answered(record, following, Answer(time, model=model))
                    yield from self.used(record, asked[index], model)
                case None if fields.text(record, "type") == "reasoning":
                    # Encrypted, beside the response it belongs to.
                    continue
                case _:
                    yield from talk.unknown()
        known = {id(request) for request in pairs.values()}
        for request in self.requests:
            if id(request) not in known:
                yield from usage(request, aside=True)

    def is_response(self, record: Any) -> bool:
        """Return whether a record is a response of the API."""
        return fields.text(record, "role") == "assistant" and not self.is_summary(record)

    def is_summary(self, record: Any) -> bool:
        """Return whether a record stands for earlier ones."""
        return False

    def hear(self, record: Any) -> None:
        """Learn from a record of the user's side what it says of the next response."""

    def model(self, record: Any, request: Request | None) -> str | None:
        """Return the model of a response."""
        return fields.text(record, "modelInfo", "modelId") or (request.model if request else None)

    def used(self, record: Any, request: Request | None, model: str | None) -> Iterator[Event]:
        """Yield what a response used; its own record counts only where no rows are left."""
        if request:
            yield from usage(request, model)
        elif not self.shown.items:
            tokens, cost = metered(record), cost_of(fields.at(record, "metrics"))
            if tokens or cost:
                yield Usage(tokens or Tokens(), model=model, time=fields.seconds(record, "ts"), cost_usd=cost)

    def shown_conversation(self) -> Iterator[Event]:
        """Yield messages and usage by the rows. A request is told before what it brought."""
        waiting = list(self.requests)
        for index, event in rows.conversation(self.shown.items):
            yield event
            if isinstance(event, Message) and event.role == "assistant":
                time = fields.seconds(self.shown.items, index, "ts")
                while waiting and waiting[0].time is not None and time is not None and waiting[0].time <= time:
                    request = waiting.pop(0)
                    yield from usage(request, aside=request.aside)
        for request in waiting:
            yield from usage(request, aside=True)

    def totals(self) -> Info:
        """Return the sums that the list has, for a task whose rows are lost."""
        return Info(
            last_activity_at=fields.seconds(self.item, "ts"),
            tokens=counts_of(self.item),
            cost_usd=cost_of(self.item, "totalCost"),
        )

    def ending(self) -> Ending | None:
        """Return how the task stands, ``None`` where its messages tell."""
        return rows.ending(self.shown.items)


def usage(request: Request, model: str | None = None, *, aside: bool = False) -> Iterator[Event]:
    """Yield what a request used, if anything is known of it."""
    if request.tokens or request.cost:
        tokens = request.tokens or Tokens()
        yield Usage(tokens, model=model or request.model, time=request.time, cost_usd=request.cost, aside=aside)


def metered(record: Any) -> Tokens | None:
    """Return the tokens in a record of the API's history; which of its input was written to the cache is not told."""
    prompt, cached = fields.count(record, "metrics", "tokens", "prompt"), fields.count(record, "metrics", "tokens", "cached")
    output = fields.count(record, "metrics", "tokens", "completion")
    if not any((prompt, cached, output)):
        return None
    return Tokens(input=None if prompt is None else max(0, prompt - (cached or 0)), output=output, cache_read=cached)


def choices_in(metadata: Any) -> Iterator[Choice]:
    """Yield the models that were chosen, and when."""
    for used in fields.rows(metadata, "model_usage"):
        time = fields.seconds(used, "ts")
        if time is not None:
            yield Choice(time, fields.text(used, "model_id"), fields.text(used, "model_provider_id"))


def project_in(content: Any) -> str | None:
    """Return the folder that the state of the editor in a prompt names last; files quoted before it may hold others."""
    words = "\n".join(filter(None, (fields.text(block, "text") for block in blocks_of(content))))
    return next(reversed(HEADING.findall(words)), None)
