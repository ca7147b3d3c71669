"""Comments below a page and on its words belong to it: read whole, and seen when they are new."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fake_confluence import FakeConfluence
from fake_server import Reply

from seoga.models import Item, Section, SectionKind, Source
from seoga_extraction.format import Input
from seoga_extraction.formats import html
from seoga_extraction.limits import Limits
from seoga_indexer.source import Means, connector_for


@pytest.fixture(params=[True, False], ids=["cloud", "data-center"])
def wiki(request: pytest.FixtureRequest) -> Iterator[FakeConfluence]:
    """A page with two threads, one page without a comment, a blog post with one."""
    fake = FakeConfluence(cloud=request.param)
    fake.write("1", "Deploy", "<p>Use make</p>")
    fake.write("2", "Quiet", "<p>Nobody said a word</p>")
    fake.write("3", "News", "<p>Today</p>", type="blogpost")
    fake.comment("91", "1", "<p>Which <b>target</b>?</p>")
    fake.comment("92", "1", "<p>make up</p>", reply="91")
    fake.comment("93", "1", "<p>Typo</p>", on="Use make", resolved=True)
    fake.comment("94", "1", "<p>넷째 의견</p>")
    fake.comment("95", "1", "<p>다섯째 의견</p>")
    fake.comment("96", "3", "<p>Good news</p>")
    with closing(fake):
        yield fake


def source(fake: FakeConfluence, **options: Any) -> Source:
    where = {} if "cql" in options else {"space": fake.space}
    return Source("confluence", "wiki", options={"baseUrl": fake.url} | where | options)


def read(fake: FakeConfluence, means: Means, path: str, **options: Any) -> tuple[Item, str]:
    """An item as it is listed, and its text."""
    with closing(connector_for(source(fake, **options), means)) as connector:
        items = {one.path: one for one in connector.items() if isinstance(one, Item)}
        with connector.open(items[path]) as local:
            return items[path], local.read_text(encoding="utf-8")


def sections(page: str, folder: Path) -> list[Section]:
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    source = Input(file, file.name, Limits())
    return [one for one in html.parse(source) if isinstance(one, Section)]


def test_all_comments_stand_below_their_page_in_their_threads(
    wiki: FakeConfluence, means: Means
) -> None:
    _, page = read(wiki, means, "pages/1")
    order = ["Use make</p>", "<h2>Comments</h2>", "Which <b>target</b>?", "make up"]
    places = [page.index(words) for words in order]
    assert places == sorted(places)
    assert "넷째 의견" in page
    assert "다섯째 의견" in page
    assert "on “Use make” (resolved):" in page
    assert ("박검색, 2024-05-03" in page) is not wiki.cloud
    _, post = read(wiki, means, "blogposts/3")
    assert "Good news" in post


def test_comments_become_sections_of_their_own_kind(
    wiki: FakeConfluence, means: Means, tmp_path: Path
) -> None:
    _, page = read(wiki, means, "pages/1")
    found = sections(page, tmp_path)
    told = [one for one in found if one.kind is SectionKind.COMMENT]
    assert "Which target?" in [one.text for one in told]
    assert "Use make" in [one.text for one in found if one not in told]
    assert {one.heading_path[-1] for one in told} == {"Comments"}


def test_a_page_without_comments_is_not_asked_for_them(wiki: FakeConfluence, means: Means) -> None:
    item, page = read(wiki, means, "pages/2")
    assert item.version == "1"
    assert "Comments" not in page
    assert not [one for one in wiki.seen if "/2/" in one.path and "comment" in one.path]


@pytest.mark.parametrize("options", [{}, {"cql": 'label = "x"'}], ids=["space", "query"])
def test_new_edited_and_deleted_comments_are_new_versions_of_their_page(
    wiki: FakeConfluence, means: Means, options: dict[str, str]
) -> None:
    seen = [read(wiki, means, "pages/1", **options)[0].version]
    assert seen[0].startswith("1+")
    wiki.comment("97", "2", "<p>elsewhere</p>")
    assert read(wiki, means, "pages/1", **options)[0].version == seen[0]
    wiki.comment("91", "1", "<p>edited</p>")
    seen.append(read(wiki, means, "pages/1", **options)[0].version)
    del wiki.comments["91"], wiki.comments["92"]
    seen.append(read(wiki, means, "pages/1", **options)[0].version)
    assert len(set(seen)) == 3


def test_a_key_that_may_not_see_comments_reads_the_page(wiki: FakeConfluence, means: Means) -> None:
    part = "footer-comments" if wiki.cloud else "/child/comment"
    wiki.fail(part, Reply({"message": "no permission"}, 403))
    _, page = read(wiki, means, "pages/1")
    assert "Use make" in page
    assert "Which" not in page


def test_a_server_that_breaks_off_costs_no_comment_unnoticed(
    wiki: FakeConfluence, means: Means
) -> None:
    part = "footer-comments" if wiki.cloud else "/child/comment"
    wiki.fail(part, Reply({"results": "none"}))
    with pytest.raises(ConnectionError, match="without results"):
        read(wiki, means, "pages/1")


def test_a_search_without_comments_leaves_every_page_to_be_asked(
    wiki: FakeConfluence, means: Means
) -> None:
    wiki.fail("/rest/api/content/search", Reply({"message": "gone"}, 404))
    item, page = read(wiki, means, "pages/1")
    assert item.version == "1"
    assert "Which" in page
