"""Comments of readers, one form for all Office files."""

from __future__ import annotations

from typing import NamedTuple


class Remark(NamedTuple):
    """A comment; `when` is ISO 8601 or "", `on` says what it is on where that is known."""

    author: str
    when: str
    text: str
    on: str = ""

    def shown(self) -> str:
        """The comment as one passage of text; "" for one without words."""
        text = self.text.strip()
        if not text:
            return ""
        about = [f"author: {self.author}"] * bool(self.author)
        about += [f"time: {self.when}"] * bool(self.when)
        return (
            "Comment"
            + (f" on {self.on}" if self.on else "")
            + (f" ({', '.join(about)})" if about else "")
            + f": {text}"
        )
