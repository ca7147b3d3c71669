"""reStructuredText: sections, directives, tables and inline markup with their lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from seoga.models import Place, SectionKind
from seoga_extraction.formats.rst.inline import shown

Reading = Callable[..., Any]

TEXT = """\
=====
Title
=====

:Author: Kim

.. toctree::

   other

Intro *here*::

    x = 1
      y = 2

.. note:: This is
   a note.

   Second.

한국어 제목
-----------

.. code-block:: python
   :linenos:

   def f():
       return 1

* one

  .. code:: sh

     ls

* two
  more

#. auto

Sub
~~~

.. [#a] The note.

Back
----

term
    its meaning
"""


def test_blocks_come_in_order_with_their_lines(read: Reading) -> None:
    got = read("a.rst", TEXT)
    assert (got.info.format, got.info.title, got.info.meta["author"]) == ("rst", "Title", "Kim")
    assert [(one.text, one.place.line_start, one.place.line_end) for one in got.sections] == [
        ("# Title", 1, 3),
        ("- Author: Kim", 5, 5),
        ("Intro here:", 11, 11),
        ("```\nx = 1\n  y = 2\n```", 13, 14),
        ("Note: This is a note.", 16, 17),
        ("Second.", 19, 19),
        ("## 한국어 제목", 21, 22),
        ("```python\ndef f():\n    return 1\n```", 24, 28),
        ("* one", 30, 30),
        ("```sh\nls\n```", 32, 34),
        ("* two\n  more\n1. auto", 36, 39),
        ("### Sub", 41, 42),
        ("[^a]: The note.", 44, 44),
        ("## Back", 46, 47),
        ("term\n  its meaning", 49, 50),
    ]
    assert got.sections[11].heading_path == ("Title", "한국어 제목", "Sub")
    assert got.of(SectionKind.NOTE)[0].place == Place(line_start=44, line_end=44)


TABLES = [
    "+------+-------+\n| k    | v     |\n+======+=======+\n| 가나 | 1     |\n|      | more  |\n"
    "+------+-------+\n| all          |\n+--------------+\n",
    "==== ======\nk    v\n==== ======\n가나 1\n     more\nall\n==== ======\n",
    ".. list-table::\n   :header-rows: 1\n\n   * - k\n     - v\n   * - 가나\n     - 1\n"
    "       more\n   * - all\n     -\n",
    '.. csv-table::\n   :header: "k", "v"\n\n   가나, 1 more\n   all,\n',
]


@pytest.mark.parametrize("table", TABLES, ids=["grid", "simple", "list", "csv"])
def test_the_four_kinds_of_tables_give_the_same(read: Reading, table: str) -> None:
    got = read("a.rst", f"before\n\n{table}\nafter\n")
    assert [one.text for one in got.sections] == [
        "before",
        "| k | v |\n| --- | --- |\n| 가나 | 1 more |\n| all |  |",
        "after",
    ]


@pytest.mark.parametrize(
    ("marked", "words"),
    [
        ("``code`` and **bold** *it*", "`code` and bold it"),
        (
            "see :ref:`the guide <guide>` and :func:`~os.path.join`",
            "see the guide and os.path.join",
        ),
        ("`Manual <https://x.y/z>`__, `Target`_ and name_.", "Manual, Target and name."),
        ("note [1]_ and |subst|", "note [1] and subst"),
        (r"snake_case_name, 2 * 3 * 4 and \*plain\*", "snake_case_name, 2 * 3 * 4 and *plain*"),
        (":math:`a^2`", "[math: a^2]"),
    ],
)
def test_inline_markup_shows_its_words(marked: str, words: str) -> None:
    assert shown(marked) == words


def test_an_empty_comment_does_not_swallow_the_block_below(read: Reading) -> None:
    got = read("a.rst", "list\n\n..\n\n   quoted\n\n.. a comment\n   of two lines\n\nend\n")
    assert got.text == "list\n\nquoted\n\nend"


def test_nothing_is_included(read: Reading) -> None:
    text = ".. include:: /etc/passwd\n\n.. csv-table::\n   :file: /etc/passwd\n\nend\n"
    assert read("a.rst", text).text == "end"


@pytest.mark.parametrize(
    "text",
    [
        "".join("   " * n + ".. note::\n\n" for n in range(400)),
        "* " * 100_000,
        "`" * 50_000 + "*a" * 50_000,
        "a::\n\n" * 10_000,
        "=== ===\n" * 10_000,
        "+--+\n|" * 10_000,
        "\n".join(" " * n + "* x" for n in range(800)),
    ],
)
def test_hostile_markup_ends_soon(read: Reading, text: str) -> None:
    started = time.monotonic()
    read("a.rst", text)
    assert time.monotonic() - started < 10
