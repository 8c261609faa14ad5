"""A home folder with an invented session, and the program run in it."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from coding_agents_sidecar import __main__ as program
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.ops import Sidecar

SESSION = "5b1f0d0a-7c1e-4a57-9d55-1f2a3b4c5d6e"
MODEL = "example-model-1"  # no price list knows it
STARTED = 1746093600  # 2025-05-01T10:00:00Z


@dataclass
class Result:
    """What a command left behind."""

    code: int
    out: bytes
    err: str

    def json(self) -> Any:
        """Return standard output as JSON."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    def error(self) -> Any:
        """Return the error that was printed as JSON."""
        return json.loads(self.err.splitlines()[-1])["error"]


class Home:
    """A home folder and a state folder below a temporary one."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "home"
        self.state = folder / "state"
        self.project = self.path / ".claude/projects/-srv-shop"
        self.project.mkdir(parents=True)

    def lay(self, session_id: str = SESSION, *, prompt: str = "Which plugins are out of date?", started: int = STARTED) -> Path:
        """Write a settled session of one prompt, one tool call and one answer; return its file."""
        prompts = {"role": "user", "content": prompt}
        call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "wp plugin list"}}
        text = {"type": "text", "text": "Only Akismet."}
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "akismet", "is_error": False}
        lines = [
            ("user", 0, "u1", None, prompts),
            ("assistant", 3, "a1", "u1", answer(f"msg_1_{session_id}", call, [9, 61, 2000, 100])),
            ("user", 4, "u2", "a1", {"role": "user", "content": [result]}),
            (
                "assistant",
                6,
                "a2",
                "u2",
                answer(f"msg_2_{session_id}", text, [4, 7, 2100, 0]),
            ),
        ]
        path = self.project / f"{session_id}.jsonl"
        path.write_text("".join(record(session_id, started, *line) for line in lines))
        os.utime(path, (started + 6, started + 6))
        return path

    def lay_agent(self, agent_id: str = "a1b2c3d4") -> Path:
        """Write a sub-agent that the session started; return its file."""
        path = self.project / SESSION / "subagents" / f"agent-{agent_id}.jsonl"
        path.parent.mkdir(parents=True)
        prompt = {"role": "user", "content": "Look at the plugins."}
        done = answer(f"msg_{agent_id}", {"type": "text", "text": "Looked."}, [1, 2, 3, 4])
        path.write_text(
            record(SESSION, STARTED, "user", 4, "s1", None, prompt) + record(SESSION, STARTED, "assistant", 5, "s2", "s1", done)
        )
        os.utime(path, (STARTED + 5, STARTED + 5))
        return path

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return an environment with nothing of the caller's but the way to the program."""
        return {
            "HOME": str(self.path),
            "CODING_AGENTS_STATE_DIR": str(self.state),
            "CODING_AGENTS_PLUGINS": "none",
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **(more or {}),
        }

    def sidecar(self) -> Sidecar:
        """Return the object behind the commands."""
        return Sidecar(Settings.from_environ(self.environment()))

    def reindex(self) -> dict[str, Any]:
        """Index the home folder and return the report."""
        with closing(self.sidecar()) as sidecar:
            return sidecar.reindex()

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> Result:
        """Run a command in this process."""
        raw, err = io.BytesIO(), io.StringIO()
        out = io.TextIOWrapper(raw)
        package = logging.getLogger("coding_agents_sidecar")
        before = package.handlers, package.propagate, package.level
        with mock.patch.dict(os.environ, self.environment(env), clear=True), redirect_stdout(out), redirect_stderr(err):
            try:
                code = program.run(arguments)
            finally:
                package.handlers, package.propagate = before[:2]
                package.setLevel(before[2])
        out.flush()
        return Result(code, raw.getvalue(), err.getvalue())

    def spawn(self, *arguments: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
        """Start a command in a process of its own, with pipes."""
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "coding_agents_sidecar", *arguments]
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=self.environment(env))

    def serve(self, requests: Sequence[Any], env: Mapping[str, str] | None = None) -> list[Any]:
        """Return the answer lines to some requests, in a process of their own; bytes are sent as they are."""
        lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in requests]
        process = self.spawn("serve", "--stdio", env=env)
        out, err = process.communicate(b"".join(line + b"\n" for line in lines), timeout=15)
        assert process.returncode == 0, err
        return [json.loads(line) for line in out.splitlines()]


def answer(id: str, block: dict[str, Any], tokens: list[int]) -> dict[str, Any]:
    """Return an API response as Claude Code records it."""
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return {
        "id": id,
        "role": "assistant",
        "model": MODEL,
        "content": [block],
        "usage": dict(zip(names, tokens, strict=True)),
    }


def record(session_id: str, started: int, type: str, after: int, uuid: str, parent: str | None, message: dict[str, Any]) -> str:
    """Return a line of a session file."""
    line = {
        "parentUuid": parent,
        "isSidechain": False,
        "cwd": "/srv/shop",
        "sessionId": session_id,
        "version": "2.1.100",
        "type": type,
        "message": message,
        "uuid": uuid,
        "timestamp": datetime.fromtimestamp(started + after, UTC).isoformat().replace("+00:00", "Z"),
    }
    return json.dumps(line) + "\n"
