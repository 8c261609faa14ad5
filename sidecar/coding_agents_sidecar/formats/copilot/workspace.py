"""``workspace.yaml`` beside a log: what the runtime keeps of a session for its list.

It is flat, so that a few rules of YAML do: a scalar is plain, quoted or a block, and may go on over indented lines.
"""

import re

from .. import beside

NAME = "workspace.yaml"
LIMIT = 1 << 20
ENTRY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?")
BLOCK = re.compile(r"([|>])[-+\d]*(?:\s+#.*)?")
COMMENT = re.compile(r"(?:^|\s)#.*")
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "", "a": "", "b": "", "e": "", "f": "", "v": "", "N": "\n", "_": " "}
EMPTY = ("", "~", "null", "Null", "NULL")


def read(folder: str) -> dict[str, str]:
    """Return the entries of a session's file; none when there is no such file."""
    data = beside.read(folder, NAME, limit=LIMIT)
    return entries((data or b"").decode("utf-8", "replace").removeprefix("\ufeff"))


def entries(words: str) -> dict[str, str]:
    """Return the scalars of a flat document by their keys, without those that are empty."""
    found: dict[str, str] = {}
    lines: list[str] = []
    key = None
    for line in [*words.split("\n"), "end:"]:
        if (entry := ENTRY.fullmatch(line.rstrip())) is None:
            lines.append(line)
            continue
        if key and (value := scalar(lines)) is not None:
            found[key] = value
        key, lines = entry[1], [entry[2] or ""]
    return found


def scalar(lines: list[str]) -> str | None:
    """Return the value that begins behind a key and goes on over the lines below it; ``None`` when it is empty."""
    head, *more = (line.strip() for line in lines)
    if block := BLOCK.fullmatch(head):
        return ("\n" if block[1] == "|" else " ").join(filter(None, more)) or None
    value = head
    for line in filter(None, more):
        escaped = value.startswith('"') and value.endswith("\\") and not value.endswith("\\\\")
        value = value[:-1] + line if escaped else f"{value} {line}".lstrip()
    if value.startswith('"'):
        return ESCAPE.sub(unescaped, re.sub(r'^"((?:[^"\\]|\\.)*).*', r"\1", value, flags=re.DOTALL)) or None
    if value.startswith("'"):
        return re.sub(r"^'((?:[^']|'')*).*", r"\1", value, flags=re.DOTALL).replace("''", "'") or None
    value = COMMENT.sub("", value).rstrip()
    return None if value in EMPTY else value


def unescaped(escape: re.Match[str]) -> str:
    """Return the character that an escape in a quoted scalar stands for."""
    if code := escape[1] or escape[2] or escape[3]:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else "\ufffd"
    return ESCAPED.get(escape[4], escape[4])
