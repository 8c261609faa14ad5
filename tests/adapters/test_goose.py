"""Goose: what its records mean, and how little is read of them, beyond what the contract of all adapters asks for."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.adapters.goose import Goose, title_of
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.formats.goose import tokens
from coding_agents_sidecar.formats.goose.messages import Conversation
from coding_agents_sidecar.formats.places import Unlisted
from coding_agents_sidecar.model import Message, Start, Tokens
from coding_agents_sidecar.testing import lay
from coding_agents_sidecar.transcript import Transcript

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "goose"
SESSIONS = ".local/share/goose/sessions"
adapter = Goose()


def sources(home: Path) -> dict[str, Source]:
    """Return the sources that a home folder holds, by their path in it."""
    roots = [root for root in adapter.roots({}, home) if os.path.isdir(root.path)]
    found = [source for root in roots for source in adapter.discover(root)]
    assert not [source for source in found if isinstance(source, Unlisted)]
    return {os.path.relpath(source.path, home): source for source in found if isinstance(source, Source)}


@pytest.fixture
def database(tmp_path: Path) -> Source:
    """The current database, all of it in the main file."""
    lay(FIXTURES / "current", tmp_path)
    source = sources(tmp_path)[f"{SESSIONS}/sessions.db"]
    change(source, "PRAGMA journal_mode = DELETE")
    return source


def change(source: Source, *statements: str) -> None:
    """Change a database as its program would."""
    db = sqlite3.connect(source.path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def read(source: Source, session_id: str) -> list[dict[str, Any]]:
    """Return the messages of a session."""
    fold = Transcript("goose")
    fold.run(adapter.events(source, session_id))
    return fold.sessions[session_id].finished(-1, False)[0]


def usage(source: Source, session_id: str) -> list[tuple[str, list[int | None]]]:
    """Return what each model of a session used, and what it cost in micro-dollars."""
    reading = Fold("goose").run(adapter.events(source, session_id)).readings()[0]
    return [(model, amounts) for (_, model), amounts in sorted(reading.usage.items())]


def prompt(words: str, created: int, visible: bool = True) -> dict[str, Any]:
    """Return a message of role user."""
    content = [{"type": "text", "text": words}]
    return {"role": "user", "created": created, "content": content, "metadata": {"userVisible": visible}}


def roles(*records: dict[str, Any]) -> list[str]:
    """Return the roles of the messages that records stand for."""
    conversation = Conversation()
    return [event.role for record in records for event in conversation.message(record, None) if isinstance(event, Message)]


def test_an_answer_holds_its_thinking_and_its_calls_answered(database: Source) -> None:
    answer = read(database, "20260205_1")[1]
    assert (answer["content"], answer["thinking"]) == ("Counting.", "Listing first.")
    done, failed = answer["tool_calls"]
    assert (done["name"], done["input"], done["is_error"], done["duration_ms"]) == (
        "developer__shell",
        {"command": "ls"},
        False,
        2000,
    )
    assert done["output"] == [
        {"type": "text", "text": "a b"},
        {"type": "file", "media_type": "image/png", "bytes": 3, "url": "file:///srv/shop/a"},
    ]
    assert (failed["name"], failed["output"], failed["is_error"]) == ("", "no such tool", True)


def test_media_are_shown_without_their_data(database: Source) -> None:
    assert read(database, "20260205_1")[0]["content"] == [
        {"type": "text", "text": "Count the files"},
        {"type": "image", "media_type": "image/png", "bytes": 6},
    ]


def test_a_ledger_gives_each_model_its_share(database: Source) -> None:
    assert usage(database, "20260205_1") == [
        ("acme-fast", [400, 50, 0, 0, None, 10_000]),
        ("acme-large", [700, 150, 1000, 100, None, 40_000]),
    ]


def test_a_ledger_without_all_costs_leaves_them_to_the_session(database: Source) -> None:
    change(database, "UPDATE usage_ledger SET cost = NULL WHERE id = 1")
    assert sum(amounts[5] or 0 for _, amounts in usage(database, "20260205_1")) == 50_000


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((1000, 80, 600, 100, 1080), Tokens(300, 80, 600, 100)),
        ((1000, 80, 600, 100, 1780), Tokens(1000, 80, 600, 100)),
        ((1000, 80, 600, 100, None), Tokens(1000, 80, 600, 100)),
        ((100, 10, 500, 0, 110), Tokens(100, 10, 500, 0)),
        ((500, 50, None, None, 550), Tokens(500, 50)),
        ((0, 0, 0, 0, 0), Tokens(0, 0, 0, 0)),
        ((None, None, None, None, 550), None),
    ],
)
def test_cached_tokens_are_taken_out_of_input_where_the_total_shows_them_in_it(
    counts: tuple[int | None, ...], expected: Tokens | None
) -> None:
    assert tokens.used(dict(zip(tokens.NAMES, counts, strict=True))) == expected


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (("Prices", "Other"), "Prices"),
        (("CLI Session", " Prices "), "Prices"),
        (("New Chat", ""), None),
        (("New session 3", "new chat"), None),
        (("Newly made", None), "Newly made"),
        ((None, None), None),
    ],
)
def test_a_placeholder_is_no_title(names: tuple[str | None, ...], title: str | None) -> None:
    assert title_of(*names) == title


def test_a_prompt_that_a_compaction_writes_again_counts_once() -> None:
    hidden = {
        "role": "assistant",
        "created": 1770000020,
        "content": [{"type": "text", "text": "Go on."}],
        "metadata": {"userVisible": False},
    }
    assert roles(prompt("Build", 1770000010), hidden, prompt("Build", 1770000021)) == [
        "user",
        "system",
        "system",
    ]
    assert roles(prompt("Build", 1770000010), hidden, prompt("Build", 1770000090)) == ["user", "system", "user"]
    assert roles(prompt("Build", 1770000010, visible=False), hidden, prompt("Build", 1770000021)) == ["system", "system", "user"]


def test_what_only_asks_for_permission_is_no_prompt() -> None:
    asks = {"role": "user", "created": 1, "content": [{"type": "toolConfirmationRequest", "id": "r1", "toolName": "ask"}]}
    assert roles(asks) == ["system"]


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ("""UPDATE messages SET metadata_json = '{"userVisible":false}' WHERE message_id = 'n3'""", {"20260205_5"}),
        ("DELETE FROM messages WHERE message_id = 'n6'", {"20260205_6"}),
        ("UPDATE sessions SET archived_at = NULL WHERE id = '20260205_4'", {"20260205_4"}),
        ("INSERT INTO usage_ledger (session_id, created_timestamp) VALUES ('20260205_2', 1770278419)", {"20260205_2"}),
        (
            "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('20260205_3', 'user', '[]', 1)",
            {"20260205_3"},
        ),
        ("UPDATE sessions SET extension_data = '[]'", set()),
    ],
)
def test_a_change_shows_in_the_stamps_of_those_it_touches(statement: str, changed: set[str], database: Source) -> None:
    before = adapter.stamps(database)
    change(database, statement)
    after = adapter.stamps(database)
    assert before is not None
    assert after is not None
    assert {one for one in after if after[one] != before[one]} == changed


def test_one_session_is_read_without_the_others(database: Source) -> None:
    events = [event for event in adapter.events(database, "20260205_5") if isinstance(event, Start)]
    assert [(event.session_id, event.modified) for event in events] == [("20260205_5", 1770282005.0)]


def test_copies_are_the_same_responses_up_to_where_they_part(database: Source) -> None:
    fold = Fold("goose").run(adapter.events(database))
    origin, copy = (set(fold.sessions[name].holdings) for name in ("20260205_5", "20260205_6"))
    assert (len(origin), len(copy), len(origin & copy)) == (2, 2, 1)


def test_backups_and_the_schedule_are_no_sources(tmp_path: Path) -> None:
    lay(FIXTURES / "files", tmp_path)
    assert set(sources(tmp_path)) == {
        f"{SESSIONS}/sessions.db",
        f"{SESSIONS}/20250715_101500.jsonl",
        f"{SESSIONS}/20250716_090000.jsonl",
        f"{SESSIONS}/my session.jsonl",
        ".config/goose/sessions/20250101_090000.jsonl",
    }
