"""What a process and the child that reads for it agree on; see `worker.py` for what is said."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass

from seoga_extraction.lanes import Lane

HEADER = struct.Struct(">I")


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
