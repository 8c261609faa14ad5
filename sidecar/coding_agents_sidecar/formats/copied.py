"""Names for responses that a copy of a conversation shares with it, where the copy has ids and times of its own."""

import hashlib
from typing import Any


class Beginning:
    """What a conversation has said so far, as a name: two that began alike have the same one, up to where they part.

    Args:
        store: what tells apart conversations of which none is a copy of the other, however alike they are.
    """

    def __init__(self, *store: str) -> None:
        self.digest = b""
        self.add(*store)

    def add(self, *said: Any) -> str:
        """Return the name after something more was said."""
        data = repr((self.digest, said)).encode("utf-8", "surrogatepass")
        self.digest = hashlib.blake2b(data, digest_size=16).digest()
        return self.digest.hex()
