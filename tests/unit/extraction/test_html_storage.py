"""Confluence's storage format: macros, links, tasks and code as a reader of the page sees them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from seoga.models import SectionKind

Reading = Callable[..., Any]


def page(body: str) -> str:
    return f'<!doctype html><html><body><div id="main-content">{body}</div></body></html>'


def macro(name: str, inside: str = "", **given: str) -> str:
    told = "".join(f'<ac:parameter ac:name="{k}">{v}</ac:parameter>' for k, v in given.items())
    return f'<ac:structured-macro ac:name="{name}">{told}{inside}</ac:structured-macro>'


def rich(text: str) -> str:
    return f"<ac:rich-text-body>{text}</ac:rich-text-body>"


def plain(text: str) -> str:
    return f"<ac:plain-text-body><![CDATA[{text}]]></ac:plain-text-body>"


def test_program_text_is_kept_as_it_was_written(read: Reading) -> None:
    source = 'if a < b && c > d:\n    print("</div>&lt;")'
    got = read("1", page(macro("code", plain(source), language="Python", title="main.py")))
    title, code = got.sections
    assert title.text == "main.py"
    assert (code.kind, code.text) == (SectionKind.CODE, f"```python\n{source}\n```")


def test_program_text_that_ends_a_cdata_section_itself_is_whole(read: Reading) -> None:
    split = plain("a]]]]><![CDATA[>b")
    assert "a]]>b" in read("1", page(macro("noformat", split))).text


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (macro("info", rich("<p>Read this</p>")), "Info: Read this"),
        (macro("warning", rich("<p>Hot</p>"), title="Stop"), "Warning: Stop\n\nHot"),
        (macro("panel", rich("<p>Inside</p>"), title="Box"), "Box\n\nInside"),
        (macro("expand", rich("<p>Hidden</p>"), title="More"), "More\n\nHidden"),
        (macro("info", rich(macro("tip", rich("<p>Deep</p>")))), "Info: Tip: Deep"),
        (f"<p>It is {macro('status', colour='Green', title='DONE')} now</p>", "It is DONE now"),
        (f"<p>See {macro('jira', key='ABC-12', server='x')}.</p>", "See ABC-12."),
        (f"<p>a {macro('anchor', x='y')}b</p>", "a b"),
        (macro("toc", maxLevel="3") + "<p>b</p>", "b"),
        (macro("excerpt", rich("<p>The gist</p>")), "The gist"),
        (macro("unknown-of-a-plugin", rich("<p>Kept</p>"), title="T"), "T\n\nKept"),
        (f"<p>{macro('mathinline', body='x^2')} is</p>", "[math: x^2] is"),
        (macro("mathblock", plain("a < b")), "[math: a < b]"),
    ],
)
def test_a_macro_reads_as_it_is_shown(read: Reading, inside: str, text: str) -> None:
    assert read("1", page(inside)).text.replace("\n\n\n", "\n\n").strip() == text


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ('<ac:link><ri:page ri:content-title="인증 & 권한" /></ac:link>', "인증 & 권한"),
        (
            '<ac:link><ri:page ri:content-title="A"/><ac:plain-text-link-body>'
            "<![CDATA[x < y]]></ac:plain-text-link-body></ac:link>",
            "x < y",
        ),
        (
            '<ac:link><ri:page ri:content-title="A"/><ac:link-body>the <b>old</b> one'
            "</ac:link-body></ac:link>",
            "the old one",
        ),
        ('<ac:link><ri:attachment ri:filename="a.pdf"/></ac:link>', "a.pdf"),
        ('<ac:link><ri:user ri:username="kim"/></ac:link>', "@kim"),
        ('<ac:image ac:alt="Plan"><ri:attachment ri:filename="p.png"/></ac:image>', "Plan"),
        (
            '<ac:image><ri:attachment ri:filename="p.png"/><ac:caption><p>Figure 1</p>'
            "</ac:caption></ac:image>",
            "Figure 1",
        ),
        ('<ac:emoticon ac:name="blue-star" ac:emoji-fallback="✅"/>', "✅"),
        ('<time datetime="2024-03-01" />', "2024-03-01"),
        ('<ac:inline-comment-marker ac:ref="1">marked</ac:inline-comment-marker>', "marked"),
        ("<ac:placeholder>Type here</ac:placeholder>", ""),
    ],
)
def test_links_images_and_marks_are_inline(read: Reading, inside: str, text: str) -> None:
    assert read("1", page(f"<p>a {inside} z</p>")).text == f"a {text} z".replace("  ", " ")


def test_tasks_have_their_boxes(read: Reading) -> None:
    task = (
        "<ac:task><ac:task-id>{}</ac:task-id><ac:task-status>{}</ac:task-status>"
        "<ac:task-body><span>{}</span></ac:task-body></ac:task>"
    )
    tasks = task.format(1, "complete", "ship") + task.format(2, "incomplete", "test")
    got = read("1", page(f"<ac:task-list>{tasks}</ac:task-list>"))
    assert got.text == "- [x] ship\n- [ ] test"


def test_layouts_are_read_cell_by_cell_and_tables_stay_tables(read: Reading) -> None:
    cells = "".join(
        f"<ac:layout-cell>{inside}</ac:layout-cell>"
        for inside in (
            "<h2>왼쪽</h2><p>one</p>",
            "<table><tr><th>k</th><th>n</th></tr><tr><td>v</td><td>1</td></tr></table>",
        )
    )
    inside = f"<ac:layout><ac:layout-section>{cells}</ac:layout-section></ac:layout>"
    got = read("1", page(inside))
    assert [(one.kind.value, one.text) for one in got.sections] == [
        ("heading", "## 왼쪽"),
        ("paragraph", "one"),
        ("table", "| k | n |\n| --- | --- |\n| v | 1 |"),
    ]


def test_a_panel_of_the_new_editor_is_read_once(read: Reading) -> None:
    node = (
        '<ac:adf-extension><ac:adf-node type="panel"><ac:adf-attribute key="panel-type">note'
        "</ac:adf-attribute><ac:adf-content><p>Only once</p></ac:adf-content></ac:adf-node>"
        '<ac:adf-fallback><div class="panel"><p>Only once</p></div></ac:adf-fallback>'
        "</ac:adf-extension>"
    )
    assert read("1", page(node)).text == "Only once"


def test_macros_nested_without_end_are_bounded(read: Reading) -> None:
    deep = "<ac:structured-macro ac:name='info'><ac:rich-text-body>" * 3000 + "<p>x</p>"
    started = time.monotonic()
    assert read("1", page(deep)).text.endswith("x")
    assert time.monotonic() - started < 10
