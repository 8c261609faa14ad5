"""A program in the sidecar's place that says what a test has written down: recorded exchanges, and what no real sidecar says."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.contract import schemas
from tests.rig.site import Site

HELLO = {"protocol": 1, "table": 1, "document": 1, "version": "0.1.0", "host": "", "publisher": "0" * 32}
PROGRAM = """#!{python} -S
import json, os, sys, time
folder = {folder!r}
with open(folder + "/process", "ab") as log:
    log.write(json.dumps([os.getpid(), sys.argv, dict(os.environ)]).encode() + b"\\n")
exchanges = json.load(open(folder + "/script"))
for line in sys.stdin:
    request = json.loads(line)
    with open(folder + "/requests", "a") as log:
        log.write(line)
    exchange = next((one for one in exchanges if one["op"] == request["op"]), None)
    if exchange is None:
        sys.exit("nothing is written down for " + request["op"])
    exchanges.remove(exchange)
    for said in exchange["says"]:
        if isinstance(said, float):
            time.sleep(said)
        else:
            sys.stdout.write(said.replace("@ID@", str(request["id"])))
            sys.stdout.flush()
"""


class Player:
    """The program; it plays each exchange once.

    Args:
        folder: a folder of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "coding-agents"
        self.program.write_text(PROGRAM.format(python=sys.executable, folder=str(folder)))
        self.program.chmod(0o755)
        self.exchanges: list[dict[str, Any]] = []
        self.says("hello", answer(HELLO))

    def says(self, op: str, *parts: str | float) -> None:
        """Write down what to answer: text, in which @ID@ stands for the request's id, and seconds of silence."""
        self.exchanges.append({"op": op, "says": parts})
        (self.folder / "script").write_text(json.dumps(self.exchanges))

    def replaces_hello(self, *parts: str | float) -> None:
        """Write down another beginning."""
        self.exchanges.clear()
        self.says("hello", *parts)

    def plays(self, conversation: str) -> None:
        """Write down the answers of a recorded conversation."""
        said: list[str] = []
        for line in (schemas.FOLDER / "examples/conversations" / f"{conversation}.jsonl").read_text().splitlines():
            record = json.loads(line)
            if "plugin" in record:
                op, said = record["plugin"]["op"], []
            else:
                said.append(compact({**record["sidecar"], "id": "@ID@"}).replace('"@ID@"', "@ID@") + "\n")
                if (op != "hello") and ("end" in record["sidecar"] or "error" in record["sidecar"]):
                    self.says(op, *said)

    def env(self, site: Site) -> dict[str, str]:
        """Return the variables that put the program in the sidecar's place."""
        return {"PATH": os.pathsep.join([str(self.folder), str(site.programs), os.environ["PATH"]])}

    def requests(self) -> list[Any]:
        """Return what it was asked after its beginning."""
        path = self.folder / "requests"
        asked = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [one for one in asked if one["op"] != "hello"]

    def processes(self) -> list[tuple[int, list[str], dict[str, str]]]:
        """Return process id, arguments and environment of each time it was started."""
        path = self.folder / "process"
        return [tuple(json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def compact(value: Any) -> str:
    """Return JSON as the sidecar writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def answer(head: Any, *items: Any, **end: Any) -> str:
    """Return a whole answer."""
    lines = [{"id": "@ID@", "head": head}, *({"id": "@ID@", "item": item} for item in items)]
    lines.append({"id": "@ID@", "end": {"count": len(items), **end}})
    return "".join(compact(line).replace('"@ID@"', "@ID@") + "\n" for line in lines)
