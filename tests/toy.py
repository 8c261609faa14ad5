"""The smallest runtime there could be, for tests of what all runtimes share.

~/.toy/<id>.jsonl, ~/.toy2/<id>.jsonl      one record a line: {"role", "key", "t", "text", "tokens", "model", "parent"}
"""

from collections.abc import Iterator
from pathlib import Path

from coding_agents_sidecar.adapter import Adapter, Root, Source
from coding_agents_sidecar.formats import fields, jsonl, places
from coding_agents_sidecar.model import Checkpoint, Event, Info, Message, Seen, Start, Tokens, Unknown, Usage


class Toy(Adapter):
    name = "toy"
    title = "Toy"
    evidence = "made for the tests"
    stores = (Root("~/.toy"), Root("~/.toy2"))

    def discover(self, root: Root) -> Iterator[Source | places.Unlisted]:
        for found in places.walk(root.path, lambda name: name.endswith(".jsonl")):
            yield found if isinstance(found, places.Unlisted) else Source(found, root.path)

    def events(self, source: Source, session_id: str | None = None, resume: Checkpoint | None = None) -> Iterator[Event]:
        yield Start(Path(source.path).stem)
        offset = resume.offset if resume else 0
        yield from jsonl.follow(jsonl.records(source.path, offset), offset, record_events)


def record_events(record: dict[str, object]) -> Iterator[Event]:
    """Yield what one line says."""
    time, key = fields.seconds(record, "t"), fields.text(record, "key")
    if parent := fields.text(record, "parent"):
        yield Info(parent_id=parent)
    match fields.text(record, "role"):
        case "user":
            yield Message("user", time, content=fields.text(record, "text") or "")
        case "assistant":
            yield Message(
                "assistant", time, key=key, content=fields.text(record, "text") or "", model=fields.text(record, "model")
            )
            tokens = fields.rows(record, "tokens")
            if tokens:
                yield Usage(
                    Tokens(fields.count(tokens, 0), fields.count(tokens, 1)),
                    key=key,
                    model=fields.text(record, "model"),
                    time=time,
                )
        case "about":
            yield Info(meta={"version": fields.text(record, "version")})
        case "note" | None:
            if time is not None:
                yield Seen(time)
        case _:
            yield Unknown()
