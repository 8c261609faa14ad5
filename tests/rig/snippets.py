"""The fenced blocks of the README."""

import re

from .packages import PROJECT

README = (PROJECT / "README.md").read_text()


def snippets(document: str, language: str) -> list[str]:
    """Return the blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)


def commands(document: str) -> list[str]:
    """Return the commands of the console blocks, in order, each once."""
    lines = [line for block in snippets(document, "console") for line in block.splitlines()]
    return list(dict.fromkeys(line.removeprefix("$ ") for line in lines if line.startswith("$ ")))
