"""Claude Code: which files it reads, and which it refuses to."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapter import Source
from coding_agents_sidecar.transcript import Transcript
from tests.adapters.claude_code import SESSION, adapter, fold_of, project_of, read, user, write
from tests.adapters.home import sources


def test_the_default_folder_is_read_beside_those_the_variable_names(tmp_path: Path) -> None:
    environ = {"CLAUDE_CONFIG_DIR": f"{tmp_path}/one, {tmp_path}/two", "XDG_CONFIG_HOME": f"{tmp_path}/xdg"}
    assert [root.path for root in adapter.roots(environ, tmp_path)] == [
        f"{tmp_path}/one/projects",
        f"{tmp_path}/two/projects",
        f"{tmp_path}/.claude/projects",
        f"{tmp_path}/xdg/claude/projects",
    ]


def test_only_files_named_like_sessions_are_sources(tmp_path: Path) -> None:
    project = project_of(tmp_path)
    names = [
        f"{SESSION}.jsonl",
        "agent-1.jsonl",
        f"{SESSION}/subagents/agent-2.jsonl",
        f"{SESSION}/subagents/workflows/run/agent-3.jsonl",
        "notes.jsonl",
        f"{SESSION}.json",
        f"{SESSION}/agent-4.jsonl",
        f"{SESSION}/subagents/{SESSION}.jsonl",
        "memory/subagents/agent-5.jsonl",
        f"{SESSION}/tool-results/agent-6.jsonl",
    ]
    for name in [*names, f"../{SESSION}.jsonl"]:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert sorted(os.path.relpath(source.path, project) for source in sources(adapter, tmp_path)) == sorted(names[:4])


NOTE = "<persisted-output>\nOutput too large. Full output saved to: {}\n\nPreview (first 2KB): …</persisted-output>"


def moved(home: Path, where: str) -> Source:
    """Write a session whose only record says that a tool's output was moved; return its file."""
    return write(home, user("u1", None, [{"type": "tool_result", "tool_use_id": "t1", "content": NOTE.format(where)}]))


def output(source: Source, session_id: str = SESSION) -> Any:
    return read(source, session_id)[0]["tool_result"]["output"]


def results_of(home: Path) -> Path:
    """Return the folder for the session's moved output, a file beside it that must stay closed."""
    (project_of(home) / "secret").write_text("secret")
    folder = project_of(home) / SESSION / "tool-results"
    folder.mkdir(parents=True)
    return folder


def test_moved_output_is_read_from_the_sessions_own_folder(tmp_path: Path) -> None:
    (results_of(tmp_path) / "out.txt").write_bytes(b"all of it \xff")
    assert output(moved(tmp_path, "C:\\Users\\x\\out.txt")) == "all of it \ufffd"


def test_moved_blocks_are_read_as_blocks(tmp_path: Path) -> None:
    (results_of(tmp_path) / "out.json").write_text('[{"type": "text", "text": "all of it"}]')
    assert output(moved(tmp_path, "/home/x/out.json")) == "all of it"


def test_moved_output_is_not_read_for_the_index(tmp_path: Path) -> None:
    (results_of(tmp_path) / "out.txt").write_text("all of it")
    transcript = Transcript(adapter.name)
    transcript.run(adapter.events(moved(tmp_path, "/home/x/out.txt")))
    assert "Preview" in transcript.sessions[SESSION].documents[0]["tool_result"]["output"]


def link(results: Path) -> None:
    (results / "out.txt").symlink_to(results.parent.parent / "secret")


def linked_folder(results: Path) -> None:
    (results.parent.parent / "elsewhere").mkdir()
    (results.parent.parent / "elsewhere" / "out.txt").write_text("secret")
    results.rmdir()
    results.symlink_to(results.parent.parent / "elsewhere")


def fifo(results: Path) -> None:
    os.mkfifo(results / "out.txt")


def folder(results: Path) -> None:
    (results / "out.txt").mkdir()


def too_large(results: Path) -> None:
    with open(results / "out.txt", "wb") as file:
        file.truncate((8 << 20) + 1)


def absent(results: Path) -> None:
    shutil.rmtree(results)


@pytest.mark.parametrize("trap", [link, linked_folder, fifo, folder, too_large, absent])
def test_moved_output_that_is_no_file_of_the_session_is_refused(tmp_path: Path, trap: Callable[[Path], None]) -> None:
    trap(results_of(tmp_path))
    assert output(moved(tmp_path, "/home/x/out.txt")) == NOTE.format("/home/x/out.txt")


@pytest.mark.parametrize("where", ["/etc/hostname", "../../secret", "..", ".", "/"])
def test_a_recorded_path_cannot_lead_out_of_the_folder(tmp_path: Path, where: str) -> None:
    results_of(tmp_path)
    assert output(moved(tmp_path, where)) == NOTE.format(where)


@pytest.mark.parametrize("absolute", [False, True])
def test_a_sub_agents_claim_of_a_session_cannot_lead_out_of_the_project(tmp_path: Path, absolute: bool) -> None:
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": NOTE.format("/x/out.txt")}]
    claim = str(tmp_path / ".claude") if absolute else "../.."
    source = write(tmp_path, user("u1", None, result, sessionId=claim), name="agent-1.jsonl")
    (tmp_path / ".claude" / "tool-results").mkdir()
    (tmp_path / ".claude" / "tool-results" / "out.txt").write_text("secret")
    assert output(source, f"{claim}/1") == NOTE.format("/x/out.txt")


def test_a_sub_agents_description_is_not_read_through_a_link(tmp_path: Path) -> None:
    source = write(tmp_path, user("u1", None, "Look around"), name="agent-1.jsonl")
    settings = project_of(tmp_path).parent.parent / "settings.json"
    settings.write_text('{"description": "secret"}')
    (project_of(tmp_path) / "agent-1.meta.json").symlink_to(settings)
    assert [reading.title for reading in fold_of(source).readings()] == ["Look around"]
