"""Small files that are much work: attributes, forms in forms, mails in mails, groups in groups."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.formats.html.attributes import MAX_ATTRIBUTES, few_attributes

Reader = Callable[..., Any]
# CPU seconds in which each of these is read; without the bounds it is minutes.
MOST_SECONDS = 8


def cpu(read: Reader, name: str, data: bytes) -> tuple[Any, float]:
    start = time.process_time()
    got = read(name, data)
    return got, time.process_time() - start


def many(count: int, value: str = "x") -> str:
    return " ".join(f'a{number}="{value}"' for number in range(count))


def test_a_tag_with_a_hundred_thousand_attributes_costs_its_length(read: Reader) -> None:
    page = f"<html><body><p>before</p><p {many(100_000)}>needle</p><p>after</p></body></html>"
    got, seconds = cpu(read, "a.html", page.encode())
    assert got.text == "before\n\nneedle\n\nafter"
    assert seconds < MOST_SECONDS


@pytest.mark.parametrize("opened", ["<!-- never closed ", "<script>never closed ", "<p title='"])
def test_attributes_are_few_behind_what_never_ends_too(opened: str) -> None:
    cut = few_attributes(f"<p>text</p>{opened}<p {many(30_000)}>more")
    assert len(cut) < 30 * MAX_ATTRIBUTES


def test_only_attributes_beyond_the_most_are_dropped() -> None:
    assert few_attributes(many(5)) == many(5)
    kept = f"<p {many(MAX_ATTRIBUTES, 'a > b')}>needle</p>"
    assert few_attributes(kept) == kept
    crowded = f"<p {many(MAX_ATTRIBUTES + 9, 'a > b')}>needle</p><b c=1>after</b>"
    assert few_attributes(crowded) == f"{kept}<b c=1>after</b>"
    script = f"<script>if (a <b {many(MAX_ATTRIBUTES + 9)}</script><p>x</p>"
    assert few_attributes(script + crowded).startswith(script)


def pdf(objects: dict[int, bytes]) -> bytes:
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % one for one in objects.items())
    return b"%PDF-1.7\n" + body + b"trailer<</Root 1 0 R>>\n%%EOF"


def stream(head: bytes, data: bytes) -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (head, len(data), data)


def page(content: int, resources: bytes, more: bytes = b"") -> bytes:
    box = b"/MediaBox[0 0 600 700]"
    return b"<</Type/Page/Parent 2 0 R%s/Contents %d 0 R/Resources<<%s>>%s>>" % (
        box,
        content,
        b"/Font<</F 7 0 R>>" + resources,
        more,
    )


FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 600 700]"
PATTERN = b"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 90 90]/XStep 90/YStep 90"


def doubling(levels: int, way: str) -> bytes:
    """Two pages of text; the first draws forms, or patterns, each of which draws the next twice."""
    head, group, use = {
        "forms": (FORM, b"XObject", b"/D Do /D Do"),
        "look": (FORM, b"XObject", b"/D Do /D Do"),
        "patterns": (PATTERN, b"Pattern", b"/Pattern cs /D scn 0 0 9 9 re f 0 0 9 9 re f"),
    }[way]
    named = [b"/%s<</D %d 0 R>>" % (group, number) for number in range(10, 11 + levels)]
    words = b"BT /F 12 Tf 50 600 Td (needle on page %d) Tj ET "
    look = b"/Annots[<</Subtype/Stamp/Rect[0 0 600 700]/AP<</N 10 0 R>>>>]"
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
        3: page(5, b"", look) if way == "look" else page(5, named[0]),
        4: page(6, b""),
        5: stream(b"", words % 1 + (b"" if way == "look" else use)),
        6: stream(b"", words % 2),
        7: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    }
    for level in range(levels):
        resources = b"/Resources<<%s>>" % named[level + 1]
        objects[10 + level] = stream(head + resources, use)
    objects[10 + levels] = stream(head, b"")
    return pdf(objects)


@pytest.mark.parametrize("way", ["forms", "patterns", "look"])
def test_a_page_of_forms_that_double_is_refused_and_the_others_are_read(
    read: Reader, events: Callable[[str, bytes], tuple[str, ExtractionFailed | None]], way: str
) -> None:
    start = time.process_time()
    text, error = events("a.pdf", doubling(30, way))
    assert error is not None
    assert error.reason is Reason.TOO_LARGE
    assert "Page 1" in error.message
    assert "needle on page 2" in text
    assert "needle on page 1" not in text
    assert time.process_time() - start < MOST_SECONDS
    # A few forms in one another are what programs write.
    assert "needle on page 1" in read("a.pdf", doubling(6, way)).text


def doubled_mail(levels: int) -> bytes:
    mail = b"From: a@b.c\nSubject: innermost\nMIME-Version: 1.0\n\nthe innermost text\n"
    for level in range(levels):
        bound = b"B%d" % level
        part = b"--%s\nContent-Type: message/rfc822\n\n%s\n" % (bound, mail)
        head = b"From: a@b.c\nSubject: level %d\nMIME-Version: 1.0\n" % level
        kind = b'Content-Type: multipart/mixed; boundary="%s"\n\n' % bound
        mail = head + kind + part * 2 + b"--%s--\n" % bound
    return mail


def test_a_mail_that_attaches_each_mail_twice_is_read_to_its_depth_only(read: Reader) -> None:
    got, seconds = cpu(read, "a.eml", doubled_mail(12))
    assert "Attachment: level 10.eml" in got.text
    assert "Attachment: level 8.eml" in got.text
    assert "nested deeper than 3 levels" in got.text
    assert seconds < MOST_SECONDS
    assert read("a.eml", doubled_mail(2)).text.count("the innermost text") == 4


def office(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


P = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
SLIDE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/slide"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


@pytest.mark.parametrize("depth", [61, 150, 240])
def test_text_in_groups_as_deep_as_parsers_go_is_read(read: Reader, depth: int) -> None:
    shape = "<p:sp><p:txBody><a:p><a:r><a:t>needle</a:t></a:r></a:p></p:txBody></p:sp>"
    tree = f"{'<p:grpSp>' * depth}{shape}{'</p:grpSp>' * depth}"
    deck = office(
        {
            "ppt/presentation.xml": f'<p:presentation {P}><p:sldIdLst><p:sldId r:id="r1"/>'
            "</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{RELATIONS}">'
            f'<Relationship Id="r1" Type="{SLIDE}" Target="slides/s.xml"/></Relationships>',
            "ppt/slides/s.xml": f"<p:sld {P}><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>",
        }
    )
    assert "needle" in read("a.pptx", deck).text


ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table")
)


@pytest.mark.parametrize("depth", [101, 235])
def test_text_in_sections_inside_a_cell_is_read(read: Reader, depth: int) -> None:
    deep = f"{'<text:section>' * depth}<text:p>needle</text:p>{'</text:section>' * depth}"
    cells = f"<table:table-cell>{deep}</table:table-cell>" * 2
    table = f"<table:table><table:table-row>{cells}</table:table-row></table:table>"
    body = f"<office:body><office:text>{table}</office:text></office:body>"
    content = f"<office:document-content {ODF}>{body}</office:document-content>"
    kind = "application/vnd.oasis.opendocument.text"
    got = read("a.odt", office({"mimetype": kind, "content.xml": content}))
    assert got.text.count("needle") == 2
