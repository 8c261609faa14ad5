"""Protocol Buffers without a schema: the fields of a message by number and wire type, whatever they mean."""

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MAX_SHIFT = 63


def fields_of(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (field number, value) in order: a number for a varint, bytes for everything else. It ends where damage begins."""
    position = 0
    while position < len(data):
        tag, position = varint(data, position)
        if tag is None:
            return
        kind = tag & 7
        if kind == VARINT:
            number, position = varint(data, position)
            if number is None:
                return
            yield tag >> 3, number
            continue
        size: int | None = {FIXED64: 8, FIXED32: 4}.get(kind)
        if kind == BYTES:
            size, position = varint(data, position)
        if size is None or position + size > len(data):
            return
        yield tag >> 3, data[position : position + size]
        position += size


def varint(data: bytes, position: int) -> tuple[int | None, int]:
    """Return the number that begins at a position and where it ends; ``None`` when there is no whole one."""
    number = shift = 0
    while position < len(data) and shift <= MAX_SHIFT:
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position
        shift += 7
    return None, position
