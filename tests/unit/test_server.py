"""The service end of the link: whole answers, one after the other, whatever it is asked."""

import fcntl
import json
import os
import socket
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar import log
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.ledger.queries import INDEXED, LISTED, ListQuery
from coding_agents_sidecar.ops import Sidecar
from coding_agents_sidecar.service import link, server
from tests.homes import SESSION, Home

OTHER = "0a7f3f4e-52a9-4c0e-8a46-6d7a0b9c1d2e"
PING = {"v": 1, "id": 99, "op": "ping"}
PONG = [{"id": 99, "head": {}}, {"id": 99, "end": {"count": 0}}]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.lay()
    return home


def request(op: str, args: dict[str, Any] | None = None, id: int = 1) -> dict[str, Any]:
    return {"v": 1, "id": id, "op": op, "args": args or {}}


def ask(home: Home, *requests: Any, sidecar: type[Sidecar] = Sidecar) -> list[Any]:
    """Return the answer lines of a server in this process."""
    incoming, requests_end = os.pipe()
    answers_end, outgoing = os.pipe()
    lines = b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in requests)
    writer = threading.Thread(target=feed, args=(requests_end, lines))
    writer.start()
    with (
        os.fdopen(incoming, "rb") as reads,
        os.fdopen(answers_end, "rb") as answers,
        closing(sidecar(Settings.from_environ(home.environment()))) as served,
    ):
        collected: list[bytes] = []
        collector = threading.Thread(target=lambda: collected.append(answers.read()))
        collector.start()
        with os.fdopen(outgoing, "wb") as writes:
            server.Server(served, link.Link(reads, writes)).run()
        collector.join()
        writer.join()
    return [json.loads(line) for line in collected[0].splitlines()]


def feed(end: int, lines: bytes) -> None:
    with os.fdopen(end, "wb") as pipe:
        pipe.write(lines)


def items(lines: list[Any]) -> list[Any]:
    return [line["item"] for line in lines if "item" in line]


def ending(lines: list[Any]) -> Any:
    """Return the end of the only answer."""
    assert [line["id"] for line in lines] == [1] * len(lines)
    return lines[-1]["end"]


def test_hello_is_what_the_sidecar_says(home: Home) -> None:
    lines = ask(home, request("hello"))
    assert lines == [{"id": 1, "head": home.sidecar().hello()}, {"id": 1, "end": {"count": 0}}]


def test_answers_come_in_the_order_of_the_requests(home: Home) -> None:
    lines = ask(home, *(request("ping", id=number) for number in (3, 1, 2)))
    assert [line["id"] for line in lines] == [3, 3, 1, 1, 2, 2]


def test_a_reindex_for_a_writer_in_php_sends_the_rows(home: Home) -> None:
    lines = ask(home, request("reindex", {"publish": {"table": "wp_x", "revision": 0}}))
    (row,) = items(lines)
    assert list(row) == list(INDEXED)
    end = ending(lines)
    assert (end["count"], end["published"], end["direct"], end["floor"]) == (1, 1, False, row["revision"])
    assert (end["report"]["indexed"], "floor" in end["report"]) == (1, False)


def test_rows_that_the_table_has_are_not_sent_again(home: Home) -> None:
    first = items(ask(home, request("reindex", {"publish": {"table": "wp_x", "revision": 0}})))
    again = ask(home, request("reindex", {"publish": {"table": "wp_x", "revision": first[0]["revision"]}}))
    assert (items(again), ending(again)["published"]) == ([], 0)


@pytest.mark.parametrize("args", [{}, {"publish": None}, {"publish": {"table": "wp_x", "revision": 0}, "dry_run": True}])
def test_nothing_is_published_unless_it_is_asked_for(home: Home, args: dict[str, Any]) -> None:
    lines = ask(home, request("reindex", args))
    assert (items(lines), ending(lines)["published"], ending(lines)["report"]["indexed"]) == ([], 0, 1)


def test_a_dry_run_publishes_nothing_of_what_is_known_already(home: Home) -> None:
    home.reindex()
    lines = ask(home, request("reindex", {"publish": {"table": "wp_x", "revision": 0}, "dry_run": True}))
    assert (items(lines), ending(lines)["published"]) == ([], 0)


def test_a_partial_reindex_knows_no_floor(home: Home) -> None:
    assert ending(ask(home, request("reindex", {"runtime": ["claude"]})))["floor"] is None


def test_a_row_that_does_not_fit_is_reported_and_the_others_are_sent(home: Home) -> None:
    lines = (home.project / f"{SESSION}.jsonl").read_text()
    (home.project / f"{OTHER}.jsonl").write_text(lines.replace("msg_", "msg_other_").replace("/srv/shop", "/srv/" + "x" * 16000))
    answer = ask(home, request("reindex", {"publish": {"table": "wp_x", "revision": 0}}))
    assert [row["session_id"] for row in items(answer)] == [SESSION]
    (failure,) = ending(answer)["report"]["failed"]
    assert failure["source"] == str(home.project / f"{OTHER}.jsonl")
    assert "does not fit the table: project_path: " in failure["message"]


def test_a_database_that_cannot_be_reached_makes_the_sidecar_send_the_rows(home: Home) -> None:
    with socket.socket() as taken:
        # Bound, so that nobody else gets the port, but not listening.
        taken.bind(("127.0.0.1", 0))
        database = {"host": "127.0.0.1", "port": taken.getsockname()[1], "user": "u", "password": "secret", "name": "n"}
        lines = ask(home, request("reindex", {"publish": {"table": "wp_x", "revision": 0, "database": database}}))
    assert len(items(lines)) == 1
    assert (ending(lines)["published"], ending(lines)["direct"]) == (1, False)


def test_a_session_is_sent_message_by_message_and_counted(home: Home) -> None:
    home.reindex()
    lines = ask(home, request("read", {"runtime": "claude", "session_id": SESSION}))
    head = lines[0]["head"]
    assert list(head) == [*LISTED, "meta"]
    assert [message["role"] for message in items(lines)] == ["user", "assistant", "tool", "assistant"]
    assert ending(lines) == {"count": head["message_count"]}


def test_an_item_is_framed_so_that_a_reader_can_cut_it_out(home: Home) -> None:
    home.reindex()
    with home.spawn("serve", "--stdio") as process:
        out, _ = process.communicate(json.dumps(request("titles", {"sessions": [["claude-code", "", SESSION]]}, 7)).encode())
    assert out.splitlines()[1] == b'{"id":7,"item":"Which plugins are out of date?"}'


def test_titles_come_in_order_and_unknown_ones_are_null(home: Home) -> None:
    home.reindex()
    names = [["claude-code", "", "gone"], ["claude-code", "", SESSION], ["claude-code", "other", SESSION]]
    assert items(ask(home, request("titles", {"sessions": names}))) == [None, "Which plugins are out of date?", None]


def test_a_list_takes_the_options_of_the_command(home: Home) -> None:
    home.lay(OTHER, started=1746100000)
    home.reindex()
    with closing(home.sidecar()) as sidecar:
        rows = sidecar.list(ListQuery(order="asc"))
    assert items(ask(home, request("list", {"order": "asc"}))) == rows
    assert items(ask(home, request("list", {"since": 1746100000, "status": ["completed"]}))) == rows[1:]
    assert items(ask(home, request("list", {"kind": ["subagent"]}))) == []
    assert items(ask(home, request("list", {"limit": 1, "kind": []}))) == rows[1:]


def test_runtimes_and_checks_are_items(home: Home) -> None:
    names = [row["name"] for row in items(ask(home, request("runtimes")))]
    assert "claude-code" in names
    lines = ask(home, request("doctor"))
    assert lines[0]["head"] in ({"health": "green"}, {"health": "yellow"})
    assert {check["status"] for check in items(lines)} <= {"ok", "warning", "error"}


def test_a_row_of_a_lost_ledger_is_adopted_as_missing_and_can_be_pruned(home: Home) -> None:
    (row,) = items(ask(home, request("reindex", {"publish": {"table": "wp_x", "revision": 0}})))
    for path in home.state.iterdir():
        path.unlink()
    (home.project / f"{SESSION}.jsonl").unlink()
    (adopted,) = items(ask(home, request("adopt", {"rows": [row]})))
    assert (adopted["session_key"], adopted["status"], adopted["token_total"]) == (row["session_key"], "missing", 4281)
    assert items(ask(home, request("prune", {"sessions": [["claude-code", "", SESSION]]}))) == [["claude-code", "", SESSION]]
    assert items(ask(home, request("list", {"kind": []}))) == []


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"hello", None, "INVALID_ARGUMENT"),
        (b"[]", None, "INVALID_ARGUMENT"),
        (b'{"v":1,"id":5,"op":"titles","args":{"sessions":[', 5, "INVALID_ARGUMENT"),
        (b'{"v":1,"id":5,"op":"\xff"}', 5, "INVALID_ARGUMENT"),
        (b'{"v":2,"id":5,"op":"ping"}', 5, "VERSION_MISMATCH"),
        (b'{"v":1,"id":5,"op":"__init__"}', 5, "INVALID_ARGUMENT"),
        (b'{"v":1,"id":5,"op":"run"}', 5, "INVALID_ARGUMENT"),
        (b'{"v":1,"id":5,"op":"read","args":{"runtime":"emacs","session_id":"x"}}', 5, "AGENT_NOT_FOUND"),
        (b'{"v":1,"id":5,"op":"read","args":{"runtime":"claude","session_id":"x"}}', 5, "SESSION_NOT_FOUND"),
        (b'{"v":1,"id":5,"op":"read","args":{"runtime":"claude","session_id":"../../etc/passwd"}}', 5, "SESSION_NOT_FOUND"),
    ],
)
def test_a_request_that_fails_is_answered_and_the_next_one_too(home: Home, line: bytes, id: int | None, code: str) -> None:
    failed, *rest = ask(home, line, PING)
    assert (failed["id"], failed["error"]["code"], rest) == (id, code, PONG)


def test_blank_lines_are_no_requests(home: Home) -> None:
    assert ask(home, b"", b"  ", PING, b"\r") == PONG


def test_a_line_beyond_the_limit_is_refused_without_being_kept(home: Home) -> None:
    long = b'{"v":1,"id":5,"op":"titles","args":{"sessions":["' + b"x" * (link.LIMIT + 100) + b'"]}}'
    failed, *rest = ask(home, long, PING)
    assert (failed["id"], failed["error"]["code"], rest) == (5, "INVALID_ARGUMENT", PONG)
    assert failed["error"]["message"] == "a request has at most 16 MiB"


def test_a_line_of_just_the_limit_is_read(home: Home) -> None:
    frame = b'{"v":1,"id":99,"op":"ping","x":"%s"}'
    line = frame % (b"x" * (link.LIMIT - len(frame) + 2))
    assert len(line) == link.LIMIT
    assert ask(home, line, PING) == PONG + PONG


class Defective(Sidecar):
    """A sidecar with a bug that quotes a transcript."""

    def titles(self, sessions: list[tuple[str, str, str]]) -> list[str | None]:
        raise KeyError("the prompt was: my password is hunter2")

    def list(self, query: ListQuery) -> Any:
        yield {"title": "first"}
        raise RuntimeError("hunter2")


def test_a_defect_is_an_internal_error_without_words_of_the_transcript(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    lines = ask(home, request("titles", {"sessions": []}), PING, sidecar=Defective)
    assert (lines[0]["error"]["code"], lines[1:]) == ("INTERNAL_ERROR", PONG)
    assert "KeyError" in lines[0]["error"]["message"]
    said = [log.Lines().format(record) for record in caplog.records] + [log.Words().format(record) for record in caplog.records]
    assert json.loads(said[0])["errors"] == ["KeyError"]
    assert json.loads(said[0])["frames"][0][-1].endswith(" titles")
    assert "hunter2" not in f"{lines} {said}"


def test_an_answer_that_breaks_off_has_no_end(home: Home) -> None:
    lines = ask(home, request("list"), sidecar=Defective)
    assert [next(iter(set(line) - {"id"})) for line in lines] == ["head", "item", "error"]


@pytest.mark.parametrize(("op", "args"), [("reindex", {}), ("adopt", {"rows": []}), ("prune", {})])
def test_a_request_that_waits_for_another_pass_is_heard_of_every_second(home: Home, op: str, args: dict[str, Any]) -> None:
    home.reindex()
    with home.spawn("serve", "--stdio") as process, open(home.state / "ledger.lock", "wb") as lock:
        assert process.stdin is not None
        assert process.stdout is not None
        # Another pass holds the ledger: this one waits.
        fcntl.lockf(lock, fcntl.LOCK_EX)
        process.stdin.write(json.dumps(request(op, args)).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"id": 1, "head": {}}
        for _ in range(2):
            began = time.monotonic()
            assert json.loads(process.stdout.readline()) == {"id": 1, "progress": {"done": 0, "total": 0}}
            assert time.monotonic() - began < 1
        fcntl.lockf(lock, fcntl.LOCK_UN)
        out, _ = process.communicate(timeout=15)
    rest = [json.loads(line) for line in out.splitlines()]
    assert all("progress" in line for line in rest[:-1])
    assert "end" in rest[-1]


def test_standard_output_is_the_protocols_alone(home: Home, tmp_path: Path) -> None:
    plugin = tmp_path / "site"
    plugin.mkdir()
    # What a library or a child process prints by accident.
    (plugin / "sitecustomize.py").write_text(
        "import logging, os\n"
        "class Loud(logging.Handler):\n"
        "    def emit(self, record):\n"
        "        print('printed'); os.write(1, b'written\\n'); os.system('echo child')\n"
        "logging.getLogger('coding_agents_sidecar.service.server').addHandler(Loud())\n"
    )
    with home.spawn("serve", "--stdio", env={"PYTHONPATH": str(plugin)}) as process:
        out, err = process.communicate(json.dumps(PING).encode() + b"\n" + json.dumps(PING).encode(), timeout=15)
    assert [json.loads(line) for line in out.splitlines()] == PONG + PONG
    for word in (b"printed", b"written", b"child"):
        assert err.count(word + b"\n") == 2


def test_a_child_cannot_read_the_requests(home: Home, tmp_path: Path) -> None:
    plugin = tmp_path / "site"
    plugin.mkdir()
    (plugin / "sitecustomize.py").write_text(
        "import logging, os\n"
        "class Greedy(logging.Handler):\n"
        "    def emit(self, record):\n"
        "        os.system('cat >&2')\n"
        "logging.getLogger('coding_agents_sidecar.service.server').addHandler(Greedy())\n"
    )
    with home.spawn("serve", "--stdio", env={"PYTHONPATH": str(plugin)}) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(json.dumps(PING).encode() + b"\n")
            process.stdin.flush()
            assert [json.loads(process.stdout.readline()) for _ in PONG] == PONG
        process.communicate(timeout=15)
    assert process.returncode == 0


def test_a_plugin_that_stops_reading_ends_the_service_quietly(home: Home) -> None:
    home.reindex()
    with home.spawn("serve", "--stdio") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(json.dumps(PING).encode() + b"\n")
        process.stdin.flush()
        assert process.wait(15) == 0
        assert [json.loads(line)["message"] for line in process.stderr.read().splitlines()] == ["the plugin stopped reading"]


@pytest.fixture
def many(home: Home) -> Home:
    """Sessions that are worth reading in several processes."""
    for number in range(6):
        home.lay(f"00000000-0000-4000-8000-{number:012}", prompt="x" * 1_000_000)
    return home


def test_reading_in_several_processes_goes_on_beside_the_heartbeat(many: Home) -> None:
    lines = many.serve([request("reindex", {"publish": {"table": "wp_x", "revision": 0}}), PING])
    assert len(items(lines)) == 7
    assert lines[-2:] == PONG
