"""HTML: content kept in order, everything else dropped."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ExtractionFailed
from seoga.models import SectionKind

Reading = Callable[..., Any]

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
    with suppress(ExtractionFailed):
        read("a.html", "<html><body>" + page)
    assert time.monotonic() - started < 20


def test_a_page_of_comments_alone_is_empty(read: Reading) -> None:
    assert not read("a.html", "<!-- a --> <!-- b -->").sections
    assert not read("a.txt", "<!---->" * 3000 + "text that is no page").of(SectionKind.HEADING)


def test_wikipedia_gives_its_article_without_its_menus(read: Reading, handed: Path) -> None:
    got = read("w.html", (handed / "html" / "markitdown__test_wikipedia.html").read_bytes())
    assert "Microsoft entered the operating system (OS) business in 1980" in got.text
    assert "move to sidebar" not in got.text


def test_code_and_tables_inside_lists_keep_their_kind_and_place(read: Reading) -> None:
    page = (
        "<html><body><ol start=3><li>one<pre>a\n  b</pre>after</li><li><p>two</p><div><table>"
        "<tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table></div></li>"
        "<li value=9>nine<ul><li>deep</ul></ol><dl><dt>term<dd>meaning</dl>"
    )
    assert [(one.kind.value, one.text) for one in read("a.html", page).sections] == [
        ("list", "3. one"),
        ("code", "```\na\n  b\n```"),
        ("list", "  after\n4. two"),
        ("table", "| k | v |\n| --- | --- |\n| 1 | 2 |"),
        ("list", "9. nine\n  - deep"),
        ("list", "- term\n  meaning"),
    ]


def test_tables_with_header_cells_stay_tables_whatever_their_cells_hold(read: Reading) -> None:
    page = (
        "<html><body><table><caption>Sizes</caption><tr><th>k</th><th>v</th></tr><tr><td><ul>"
        "<li>a<li>b</ul></td><td><table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>"
        "<pre>x\ny</pre></td></tr></table>"
    )
    got = read("a.html", page)
    assert got.text == "Sizes\n\n| k | v |\n| --- | --- |\n| - a - b | x y 1, 2; 3 |"


def test_mathematics_is_read_by_the_tex_that_the_page_carries(read: Reading) -> None:
    annotation = '<annotation encoding="application/x-tex">{\\displaystyle a^{2}}</annotation>'
    page = (
        f"<html><body><p>so <span style='display: none'><math><mi>a</mi>{annotation}</math></span>"
        '<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle a^{2}}"> and '
        '<math alttext="b"><mi>b</mi></math> or <math><mi>c</mi><mo>=</mo><mn>1</mn></math></p>'
    )
    assert read("a.html", page).text == "so [math: a^{2}] and [math: b] or [math: c=1]"


CONFLUENCE = """<html><head><title>Space : Page</title></head><body><div id="main-header">
<div id="breadcrumb-section"><ol id="breadcrumbs"><li><a>Space</a><li><a>Home</a></ol></div>
<h1 id="title-heading">Space : Page</h1></div><div class="page-metadata">Created by
<span class="author">Kim</span></div><div id="main-content" class="wiki-content">
<div class="toc-macro"><ul><li>Title</ul></div><h2>Title</h2>
<div class="confluence-information-macro confluence-information-macro-warning">
<p class="title">Look</p>
<div class="confluence-information-macro-body"><p>Hot</p></div></div>
<div class="code panel"><div class="codeHeader panelHeader"><b>run.py</b></div><div><pre
class="syntaxhighlighter-pre" data-syntaxhighlighter-params="brush: py; gutter: false">a = 1
  b</pre></div></div>
<script type="syntaxhighlighter" class="brush: java; gutter: false"><![CDATA[if (a<b) {}]]></script>
<ul class="inline-task-list"><li class="checked">done<li>open</ul>
<table class="confluenceTable"><tr><td class="confluenceTd"><h3>k</h3></td><td>v</td></tr></table>
</div><div class="pageSection"><h2 id="attachments">Attachments:</h2><div class="greybox">
<a href="a">plan.pdf</a> (application/pdf)<br/><a href="b">b.png</a> (image/png)<br/></div></div>
<div id="footer"><p>Document generated by Confluence</p></div></body></html>"""


def test_macros_and_attachments_of_confluence_are_read(read: Reading) -> None:
    got = read("123.html", CONFLUENCE)
    assert [one.text for one in got.sections] == [
        "# Space : Page",
        "Created by Kim",
        "## Title",
        "Warning: Look",
        "Hot",
        "run.py",
        "```py\na = 1\n  b\n```",
        "```java\nif (a<b) {}\n```",
        "- [x] done\n- [ ] open",
        "| k | v |\n| --- | --- |",
        "## Attachments:",
        "plan.pdf (application/pdf)\nb.png (image/png)",
    ]
    assert got.info.meta["breadcrumb"] == ["Space", "Home"]
    assert got.info.meta["author"] == "Kim"


@pytest.mark.parametrize("name", ["9273380", "JavaScript_9273401"])
def test_real_confluence_pages_give_their_content_only(
    read: Reading, handed: Path, name: str
) -> None:
    path = handed / "html_confluence" / f"confluencetomarkdown__{name}.html"
    got = read(path.name, path.read_bytes())
    assert got.info.meta["breadcrumb"][0] == "11. My article"
    assert got.sections[0].level == 1
    assert "generated by Confluence" not in got.text


def test_the_charset_of_real_files_is_found(read: Reading, handed: Path) -> None:
    wide = (handed / "html" / "unstructured__example-steelJIS-datasheet-utf-16.html").read_bytes()
    assert "utf-16" in read("a.html", wide).info.meta["charset"]
    western = (handed / "html" / "unstructured__fake-html-cp1252.html").read_bytes()
    assert "\ufffd" not in read("a.html", western).text


@pytest.mark.parametrize("depth", [150, 1000, 5000, 50_000])
@pytest.mark.parametrize(
    "tags", ["div", "b", "ul li", "table tr td", "table tbody tr td", "section p blockquote"]
)
def test_pages_nested_without_end_keep_their_text_and_what_follows(
    read: Reading, tags: str, depth: int
) -> None:
    begin = "".join(f"<{tag}>" for tag in tags.split())
    end = "".join(f"</{tag}>" for tag in reversed(tags.split()))
    page = (
        f"<html><p>first</p>{begin * depth}deep<script>var a = '<p>no</p>'</script><!-- <b> -->"
        f"{end * depth}<h1>After</h1><p>last</p><ul><li>item</ul>"
    )
    got = read("a.html", page)
    texts = [one.text.lstrip(" -") for one in got.sections]
    assert texts[0] == "first"
    assert texts[-3:] == ["# After", "last", "item"]
    # One line for the deep part, behind the marks of its lists.
    assert "".join(texts[1:-3]).split() in (["deep"], ["-", "deep"]), texts
    assert ("note" in got.info.meta) == (depth * len(tags.split()) > 200)


def test_below_the_deepest_level_blocks_still_have_lines_of_their_own(read: Reading) -> None:
    inner = "<h2>A</h2><p>one</p><ul><li>two<li>three</ul><table><tr><td>four<td>five</table>"
    got = read("a.html", "<html>" + "<div>" * 3000 + inner)
    assert got.text == "A\none\ntwo\nthree\nfour\nfive"
