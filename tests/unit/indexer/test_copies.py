"""Many files with one content: empty `__init__.py`s, a licence in every folder."""

from __future__ import annotations

import tracemalloc
from typing import Any

FILES = 600
# A row of each of them for each of them would be more than 100.
MOST_MIB = 32


def test_copies_of_one_content_take_memory_once(place: Any) -> None:
    for number in range(FILES):
        place.write(f"first/{number}.py", "")
    place.run()
    for number in range(FILES):
        place.write(f"later/{number}.py", "")
    tracemalloc.start()
    try:
        assert place.run().indexed == FILES
        assert tracemalloc.get_traced_memory()[1] < MOST_MIB * 2**20
    finally:
        tracemalloc.stop()


def test_each_file_that_is_gone_lends_its_rows_to_one_that_has_its_content(place: Any) -> None:
    for name in ("a.md", "b.md", "c.txt"):
        place.write(name, "annual leave")
    place.run()
    ids = place.query("SELECT id FROM files ORDER BY id")
    for name in ("a.md", "b.md", "c.txt"):
        (place.docs / name).rename(place.docs / f"new-{name}")
    place.write("copy.md", "annual leave")
    result = place.run()
    assert (result.indexed, result.removed) == (1, 0)
    moved = place.query("SELECT id FROM files WHERE path LIKE 'new-%' ORDER BY id")
    copied = place.query("SELECT id FROM files WHERE path = 'copy.md'")
    # The copy may take the rows of one that moved: then that one is read anew.
    assert len({*moved, *copied} & {*ids}) == len(ids)
    place.check_whole()
