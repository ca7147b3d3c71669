"""Long texts of Jira: the document format of Cloud and the wiki markup of Data Center as HTML."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seoga_indexer.sources.jira import adf, wiki
from seoga_indexer.sources.jira.issue import shown


def node(kind: str, *content: Any, **attrs: Any) -> dict[str, Any]:
    return {"type": kind, "content": list(content)} | ({"attrs": attrs} if attrs else {})


def words(text: str, *marks: str, **link: str) -> dict[str, Any]:
    made = [{"type": mark} | ({"attrs": link} if mark == "link" else {}) for mark in marks]
    return {"type": "text", "text": text} | ({"marks": made} if made else {})


@pytest.mark.parametrize(
    ("found", "html"),
    [
        (
            node("paragraph", words("a < b"), {"type": "hardBreak"}, words("c")),
            "<p>a &lt; b<br>c</p>",
        ),
        (node("heading", words("H"), level=1), "<h3>H</h3>"),
        (node("paragraph", words("x", "strong", "em")), "<p><i><b>x</b></i></p>"),
        (
            node("paragraph", words("docs", "link", href="https://e.org/x")),
            "<p>docs (https://e.org/x)</p>",
        ),
        (
            node("bulletList", node("listItem", node("paragraph", words("one")))),
            "<ul><li><p>one</p></li></ul>",
        ),
        (node("orderedList", node("listItem"), order=4), '<ol start="4"><li></li></ol>'),
        (
            node("codeBlock", words("if a < b:\n  c"), language="python"),
            '<pre class="language-python">if a &lt; b:\n  c</pre>',
        ),
        (
            node("table", node("tableRow", node("tableHeader", words("k"), colspan=2))),
            '<table><tr><th colspan="2">k</th></tr></table>',
        ),
        (
            node("panel", node("paragraph", words("note")), panelType="info"),
            "<div><p>note</p></div>",
        ),
        (node("expand", words("in"), title="More"), "<div><p>More</p>in</div>"),
        (node("paragraph", node("mention", id="1", text="@Kim")), "<p>@Kim</p>"),
        (node("paragraph", node("emoji", shortName=":x:", text="✗")), "<p>✗</p>"),
        (node("paragraph", node("status", text="DONE", color="green")), "<p>DONE</p>"),
        (node("paragraph", node("date", timestamp="1709251200000")), "<p>2024-03-01</p>"),
        (node("paragraph", node("inlineCard", url="https://e.org")), "<p>https://e.org</p>"),
        (node("mediaSingle", node("media", id="1", alt="Plan")), "<div>Plan</div>"),
        (
            node("taskList", node("taskItem", words("ship"), state="DONE")),
            '<ul class="inline-task-list"><li class="checked">ship</li></ul>',
        ),
        (node("of a later version", words("kept")), "kept"),
        ("no node", ""),
        (None, ""),
        ({"type": "paragraph", "content": "no list"}, "<p></p>"),
    ],
)
def test_a_node_of_the_document_format(found: Any, html: str) -> None:
    assert adf.html_of(found) == html


def test_nodes_nested_without_end_are_bounded() -> None:
    deep: dict[str, Any] = words("x")
    for _ in range(5000):
        deep = node("blockquote", deep)
    assert len(adf.html_of(deep)) < 5000


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("h2. Title *x*", "<h4>Title <b>x</b></h4>"),
        ("one\ntwo\n\nthree", "<p>one<br>two</p>\n<p>three</p>"),
        ("* a\n** b\n* c", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"),
        ("# a\n# b", "<ol><li>a</li><li>b</li></ol>"),
        ("- a\nmore", "<ul><li>a<br>more</li></ul>"),
        (
            "||k||v||\n|a|[t|https://e.org]|",
            "<table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td>t (https://e.org)</td></tr></table>",
        ),
        (
            "{code:java|title=A.java}\nint a = 1 < 2;\n{code}\nafter",
            '<p>A.java</p><pre class="language-java">int a = 1 &lt; 2;</pre>\n<p>after</p>',
        ),
        ("{noformat}\n*raw*\n{noformat}", "<pre>*raw*</pre>"),
        ("{code}never closed\nx", "<pre>never closed\nx</pre>"),
        ("{code}x{code}", "<pre>x</pre>"),
        ("bq. said", "<blockquote>said</blockquote>"),
        ("{quote}\nsaid\n{quote}", "<p>said</p>"),
        ("{panel:title=Box}\nin\n{panel}", "<p>Box</p>\n<p>in</p>"),
        ("call {{a_b_c}} now", "<p>call <code>a_b_c</code> now</p>"),
        ("a_b_c and 2 * 3 * 4 stay", "<p>a_b_c and 2 * 3 * 4 stay</p>"),
        ("*bold* _it_ <b>", "<p><b>bold</b> <i>it</i> &lt;b&gt;</p>"),
        ("see [~kim] and !plan.png|alt=Plan!", "<p>see @kim and Plan</p>"),
        ("{color:red}hot{color}", "<p>hot</p>"),
        ("한글 *굵게* 끝", "<p>한글 <b>굵게</b> 끝</p>"),
    ],
)
def test_a_piece_of_wiki_markup(text: str, html: str) -> None:
    assert wiki.html_of(text) == html


@given(st.text(alphabet="*_+-^~?{}[]|!#h1. \na한:code", max_size=300))
def test_no_markup_raises(text: str) -> None:
    wiki.html_of(text)


@pytest.mark.parametrize("piece", ["*a ", "[a|", "{{", "|", "!a", "{code}", "* ", "_x", "h1. "])
def test_markup_without_an_end_takes_no_time(piece: str) -> None:
    started = time.monotonic()
    wiki.html_of(piece * 20_000)
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (3, "3"),
        (["a", {"name": "b"}], "a, b"),
        ({"value": "EU", "child": {"value": "Seoul"}}, "EU / Seoul"),
        ({"key": "A-1", "fields": {"summary": "S"}}, "A-1 S"),
        ({"unknown": 1}, ""),
    ],
)
def test_a_value_of_a_field_is_called_what_people_call_it(value: Any, text: str) -> None:
    assert shown(value) == text
