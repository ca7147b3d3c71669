"""HTML: content kept in order, everything else dropped."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from seoga.models import SectionKind

Reading = Callable[..., object]

PAGE = """<!DOCTYPE html><html><head><title>문서
제목</title><style>x{}</style></head><body>
<nav><a href=/>Home</a></nav><script>alert(1)</script>
<h1>설치 <a class=headerlink>¶</a></h1>
loose <b>text</b> with<br>a break
<p>First   paragraph
with <code>code</code>.</p>
<div hidden>no</div><div style="display: none">no</div><div aria-hidden=true>no</div>
<h2>목록</h2><ul><li>one<ul><li>deep</li></ul></li><li><p>two</p><p>more</p></li></ul>
<ol><li>a<li>b</ol>
<table><tr><th>k</th><th>v</th></tr>
<tr><td rowspan=2>x|y</td><td>1</td></tr><tr><td>2</td></tr></table>
<pre class="language-python"><code>def f():
    return "&lt;"
</code></pre>
<img alt="그림 설명" src=x.png></body></html>"""


def test_headings_paragraphs_lists_tables_and_code_come_in_order(read: Reading) -> None:
    got = read("a.html", PAGE)
    assert got.info.title == "문서 제목"
    assert [(one.kind.value, one.text) for one in got.sections] == [
        ("heading", "# 설치"),
        ("paragraph", "loose text with\na break"),
        ("paragraph", "First paragraph with `code`."),
        ("heading", "## 목록"),
        ("list", "- one\n  - deep\n- two\n  more"),
        ("list", "1. a\n2. b"),
        ("table", "| k | v |\n| --- | --- |\n| x\\|y | 1 |\n| x\\|y | 2 |"),
        ("code", '```python\ndef f():\n    return "<"\n```'),
        ("paragraph", "그림 설명"),
    ]
    assert got.sections[-1].heading_path == ("설치", "목록")


@pytest.mark.parametrize("charset", ["cp949", "utf-8", "utf-16", "cp1252"])
def test_the_charset_is_found(read: Reading, charset: str) -> None:
    words = "Café déjà vu" if charset == "cp1252" else "한국어 문서입니다"
    page = f"<html><head><meta charset={charset}></head><body><p>{words}</p></body></html>"
    assert read("a.html", page.encode(charset)).text == words


def test_a_page_is_known_by_its_content_not_its_name(read: Reading) -> None:
    assert read("page.txt", PAGE).info.format == "html"


def test_a_layout_table_is_read_cell_by_cell(read: Reading) -> None:
    page = "<html><body><table><tr><td><h2>A</h2><p>one</p></td><td><p>two</p></td></tr></table>"
    got = read("a.html", page)
    assert not got.of(SectionKind.TABLE)
    assert got.text == "## A\n\none\n\ntwo"


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "deep",
        "<span>" * 20_000 + "deep" + "</span>" * 20_000,
        "<ul><li>" * 5_000 + "deep",
        "<table><tr><td>" * 2_000 + "deep",
        "<b>" * 3_000 + "<p>x</p>" * 3_000,
        "<table><tr><td rowspan=1000000 colspan=1000000>deep</td></tr></table>" * 50,
    ],
)
def test_hostile_nesting_and_spans_end_soon(read: Reading, page: str) -> None:
    started = time.monotonic()
    read("a.html", "<html><body>" + page)
    assert time.monotonic() - started < 20


def test_a_page_of_comments_alone_is_empty(read: Reading) -> None:
    assert not read("a.html", "<!-- a --> <!-- b -->").sections
    assert not read("a.txt", "<!---->" * 3000 + "text that is no page").of(SectionKind.HEADING)


def test_wikipedia_gives_its_article_without_its_menus(read: Reading, handed: Path) -> None:
    got = read("w.html", (handed / "html" / "markitdown__test_wikipedia.html").read_bytes())
    assert "Microsoft entered the operating system (OS) business in 1980" in got.text
    assert "move to sidebar" not in got.text
