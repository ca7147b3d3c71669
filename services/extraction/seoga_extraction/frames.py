"""What a process and the child that reads for it agree on; see `worker.py` for what is said."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from seoga.contracts.extraction import Made
from seoga_extraction.lanes import Lane

HEADER = struct.Struct(">I")
# No line end stands in what it gives.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Orders:
    """What the parent passes on the command line."""

    parent: int
    package: str
    lane: Lane

    def to_text(self) -> str:
        """One argument of a command line."""
        return json.dumps([self.parent, self.package, self.lane.to_json()])

    @staticmethod
    def from_text(text: str) -> Orders:
        """Inverse of `to_text`."""
        parent, package, lane = json.loads(text)
        return Orders(parent, package, Lane.from_json(lane))


class Wrapped(NamedTuple):
    """`Made` as it crosses the pipe; `number` texts, with NUL between them."""

    head: bytes
    number: int
    texts: bytes
    blobs: bytes


def wrap(made: Made) -> Wrapped:
    """Raises ValueError for what would not arrive as it is: NUL in a text, half characters."""
    count, joined = len(made.texts), "\0".join(made.texts)
    if joined.count("\0") != max(count - 1, 0):
        raise ValueError("a text holds NUL")
    head = _encode([made.value, count, [*map(len, made.blobs)]])
    return Wrapped(head.encode(), count, joined.encode(), b"".join(made.blobs))


def finished_frame(head: dict[str, Any], made: Sequence[Wrapped | None]) -> list[bytes]:
    """The pieces of a frame: a line of JSON, then all texts and all blobs."""
    there = [one for one in made if one is not None]
    texts = b"\0".join(one.texts for one in there if one.number)
    heads = b",".join(b"null" if one is None else one.head for one in made)
    line = _encode({**head, "texts": len(texts)}).encode()[:-1] + b',"made":[' + heads + b"]}\n"
    return [line, texts, *(one.blobs for one in there)]


def message_of(body: bytes) -> dict[str, Any]:
    """The JSON of a frame; what follows on it is its `tail`."""
    end = body.find(b"\n")
    message: dict[str, Any] = json.loads(body if end < 0 else body[:end])
    if end >= 0:
        message["tail"] = body[end + 1 :]
    return message


def unwrapped(message: Mapping[str, Any]) -> list[Made | None]:
    """What was made of each file, of the message of a `finished_frame`."""
    tail, size = message["tail"], message["texts"]
    texts = tail[:size].decode().split("\0")
    out: list[Made | None] = []
    first, at = 0, size
    for one in message["made"]:
        if one is None:
            out.append(None)
            continue
        value, count, sizes = one
        blobs = []
        for length in sizes:
            blobs.append(tail[at : at + length])
            at += length
        out.append(Made(value, texts[first : first + count], blobs))
        first += count
    return out
