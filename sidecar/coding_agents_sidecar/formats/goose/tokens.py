"""What a session or a call used.

Providers differ in whether input contains the cached tokens. It does where the recorded total is input and output although
some were cached; otherwise it is taken as it stands.
"""

from typing import Any

from ...model import Tokens
from .. import fields

NAMES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "total_tokens")
ACCUMULATED = "accumulated_"
"""What the names of a session's own counts begin with; without it they are those of its last call."""


def used(record: Any, prefix: str = "") -> Tokens | None:
    """Return the counts of a record; ``None`` when it has none."""
    input, output, read, write, total = (fields.count(record, prefix + name) for name in NAMES)
    cached = (read or 0) + (write or 0)
    if cached and input is not None and cached <= input and total == input + (output or 0):
        input -= cached
    found = Tokens(input, output, read, write)
    return None if found == Tokens() else found
