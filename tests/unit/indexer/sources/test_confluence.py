"""Confluence, Cloud and Data Center: complete listings by id and version, pages as documents."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from fake_confluence import FakeConfluence
from fake_server import Reply, Scripted

from seoga.models import Item, Source
from seoga_indexer.source import Means, SourceUnavailable, connector_for


@pytest.fixture(params=[True, False], ids=["cloud", "data-center"])
def wiki(request: pytest.FixtureRequest) -> Iterator[FakeConfluence]:
    """Three pages, one below another, a blog post, and files at two of them."""
    fake = FakeConfluence(cloud=request.param)
    fake.write("101", "홈", "<p>Welcome</p>")
    fake.write("1002", "Deploy & run", "<p>Use <b>make</b></p>", parent="101")
    fake.write("99", "Old", "<p>Old words</p>", parent="1002")
    fake.write("555", "News", "<p>Today</p>", type="blogpost")
    for number in range(3):
        fake.attach(f"att{number}", "1002", f"file{number}.txt", b"bytes %d" % number)
    with closing(fake):
        yield fake


def source(fake: FakeConfluence, **options: Any) -> Source:
    filters = {key: tuple(options.pop(key)) for key in ("include", "exclude") if key in options}
    where = {} if "cql" in options else {"space": fake.space}
    return Source("confluence", "wiki", options={"baseUrl": fake.url} | where | options, **filters)


def listing(one: Source, means: Means) -> list[Item]:
    with closing(connector_for(one, means)) as connector:
        return [entry for entry in connector.items() if isinstance(entry, Item)]


def text(one: Source, means: Means, item: Item) -> str:
    with closing(connector_for(one, means)) as connector, connector.open(item) as local:
        return local.read_text(encoding="utf-8")


EVERYTHING = [
    "blogposts/555",
    "pages/1002",
    "pages/1002/att0/file0.txt",
    "pages/1002/att1/file1.txt",
    "pages/1002/att2/file2.txt",
    "pages/101",
    "pages/99",
]


def test_a_space_is_listed_whole_by_ids_in_the_order_of_paths(
    wiki: FakeConfluence, means: Means
) -> None:
    items = listing(source(wiki), means)
    assert [item.path for item in items] == EVERYTHING
    assert {item.version for item in items} == {"1"}
    by_path = {item.path: item for item in items}
    page = "/spaces/DEV/pages/101/Title" if wiki.cloud else "/display/DEV/101"
    assert by_path["pages/101"].url == wiki.url + page
    file = by_path["pages/1002/att0/file0.txt"]
    assert file.url == f"{wiki.url}/download/attachments/1002/file0.txt"
    assert (file.size, file.mtime_ns) == (7, 1714644000 * 10**9)


def test_a_query_is_listed_with_the_files_of_what_it_finds(
    wiki: FakeConfluence, means: Means
) -> None:
    items = listing(source(wiki, cql='label = "x"'), means)
    assert [item.path for item in items] == EVERYTHING
    first = wiki.calls("/content/search")[0]
    assert first.params["cql"] == 'label = "x"'
    assert "version" in first.params["expand"]


def test_the_requests_are_those_of_the_documentation(wiki: FakeConfluence, means: Means) -> None:
    wiki.size = 100
    listing(source(wiki), means)
    asked = [(request.path.removeprefix(wiki.prefix), request.params) for request in wiki.seen]
    expand = "version,children.attachment.version"
    search = {"limit": "100", "expand": "version,container"}
    comments = ("/rest/api/content/search", {"cql": 'space = "DEV" and type = comment'} | search)
    if wiki.cloud:
        assert asked == [
            comments,
            ("/api/v2/spaces", {"keys": "DEV", "limit": "1"}),
            ("/api/v2/spaces/98304/pages", {"limit": "250", "status": "current"}),
            ("/api/v2/spaces/98304/blogposts", {"limit": "250", "status": "current"}),
            (
                "/rest/api/content/search",
                {"cql": 'space = "DEV" and type = attachment'} | search,
            ),
        ]
    else:
        common = {"spaceKey": "DEV", "status": "current", "start": "0", "limit": "100"}
        assert asked == [comments] + [
            ("/rest/api/content", common | {"type": kind, "expand": expand})
            for kind in ("page", "blogpost")
        ]


def test_a_page_is_its_storage_format_with_title_trail_and_labels(
    wiki: FakeConfluence, means: Means
) -> None:
    items = {item.path: item for item in listing(source(wiki), means)}
    page = text(source(wiki), means, items["pages/99"])
    assert page.startswith("<!doctype html>")
    assert "<title>Old</title>" in page
    assert "<p>Old words</p>" in page
    assert '<meta name="keywords" content="runbook">' in page
    trail = "<li>홈</li><li>Deploy &amp; run</li>" if wiki.cloud else "<li>Deploy &amp; run</li>"
    assert trail in page
    assert "<p>Today</p>" in text(source(wiki), means, items["blogposts/555"])
    file = items["pages/1002/att2/file2.txt"]
    assert text(source(wiki), means, file) == "bytes 2"
    assert list((means.cache / "items").iterdir()) == []


def test_a_new_title_is_a_new_version_of_the_same_item(wiki: FakeConfluence, means: Means) -> None:
    wiki.write("99", "Renamed", "<p>Old words</p>")
    items = {item.path: item for item in listing(source(wiki), means)}
    assert items["pages/99"].version == "2"
    assert len(items) == len(EVERYTHING)


def test_include_and_exclude_speak_of_paths(wiki: FakeConfluence, means: Means) -> None:
    one = source(wiki, include=["pages/"], exclude=["*.txt"])
    assert [item.path for item in listing(one, means)] == ["pages/1002", "pages/101", "pages/99"]


@pytest.mark.parametrize(("user", "sent"), [("", "Bearer s3cret-key"), ("me@x.org", "Basic")])
def test_the_key_is_sent_as_cloud_or_as_data_center_wants_it(
    wiki: FakeConfluence, means: Means, user: str, sent: str
) -> None:
    login = {"apiKeyPreset": "Forge"} | ({"user": user} if user else {})
    items = listing(source(wiki, **login), means)
    text(source(wiki, **login), means, items[2])
    assert all(request.headers["authorization"].startswith(sent) for request in wiki.seen)
    assert not any("s3cret" in str(request.params) + request.path for request in wiki.seen)


def test_a_page_that_is_gone_when_it_is_read_is_gone(wiki: FakeConfluence, means: Means) -> None:
    items = {item.path: item for item in listing(source(wiki), means)}
    del wiki.pages["99"]
    del wiki.files["att0"]
    for path in ("pages/99", "pages/1002/att0/file0.txt"):
        with pytest.raises(FileNotFoundError):
            text(source(wiki), means, items[path])


def test_a_page_that_may_not_be_read_waits_for_a_person(wiki: FakeConfluence, means: Means) -> None:
    items = {item.path: item for item in listing(source(wiki), means)}
    wiki.fail("/99", Reply({"message": "not permitted"}, 403))
    with pytest.raises(PermissionError, match="not permitted"):
        text(source(wiki), means, items["pages/99"])


def test_an_unknown_space_and_a_bad_query_are_said_in_the_words_of_the_server(
    wiki: FakeConfluence, means: Means
) -> None:
    with pytest.raises(SourceUnavailable, match="space"):
        listing(source(wiki, space="NOPE"), means)
    with pytest.raises(SourceUnavailable, match="Could not parse cql"):
        listing(source(wiki, cql="type = ("), means)


def test_a_listing_that_fails_half_way_gives_nothing(wiki: FakeConfluence, means: Means) -> None:
    second = [request.path for request in wiki.seen]
    assert second == []
    connector = connector_for(source(wiki), means)
    given: list[Any] = []
    part = "/blogposts" if wiki.cloud else "/rest/api/content"
    wiki.fail(part, Reply({"message": "boom"}, 400))
    with closing(connector), pytest.raises(SourceUnavailable, match="boom"):
        given.extend(connector.items())
    assert given == []


@pytest.mark.parametrize(
    "answer",
    [
        {"results": "no list"},
        {"no": "results"},
        {"results": [{"title": "no id"}], "_links": {}},
        {"results": [{"id": "7", "type": "page", "title": "no version"}], "_links": {}},
    ],
)
def test_an_answer_of_another_shape_is_no_empty_listing(means: Means, answer: Any) -> None:
    with closing(Scripted(lambda _: Reply(answer))) as fake:
        one = Source("confluence", "wiki", options={"baseUrl": fake.url, "space": "X"})
        with pytest.raises(SourceUnavailable):
            listing(one, means)


def test_a_listing_that_leads_in_a_circle_ends(means: Means) -> None:
    turn: dict[str, Any] = {"results": [], "_links": {"next": "/rest/api/content?start=2"}}
    with closing(Scripted(lambda _: Reply(turn))) as fake:
        one = Source("confluence", "wiki", options={"baseUrl": fake.url, "space": "X"})
        with pytest.raises(SourceUnavailable, match="never ends"):
            listing(one, means)


@pytest.mark.parametrize("options", [{"space": "DEV"}, {"cql": "type = page"}])
def test_a_listing_that_repeats_its_page_ends_whatever_its_next_links_say(
    wiki: FakeConfluence, means: Means, options: dict[str, str]
) -> None:
    wiki.comment("c1", "101", "<p>x</p>")
    answer = wiki.answer

    def repeating(request: Any) -> Reply:
        step = "cursor" if wiki.cloud else "start"
        request.params.pop(step, None)
        reply = answer(request)
        reply.body["_links"] = {"next": f"/x?{step}={len(wiki.seen)}"}
        return reply

    wiki.answer = repeating
    with pytest.raises(SourceUnavailable, match="repeats itself"):
        listing(Source("confluence", "wiki", options={"baseUrl": wiki.url} | options), means)
    assert len(wiki.seen) <= 6


def test_another_page_than_the_one_asked_for_is_not_believed(
    wiki: FakeConfluence, means: Means
) -> None:
    items = {item.path: item for item in listing(source(wiki), means)}
    answer = wiki.answer

    def another(request: Any) -> Reply:
        request.path = request.path.replace("/101", "/99")
        return answer(request)

    wiki.answer = another
    with pytest.raises(ConnectionError, match="101 was asked for, and the server gave 99"):
        text(source(wiki), means, items["pages/101"])


def test_a_next_link_to_another_host_is_not_followed_there(means: Means) -> None:
    page = {"id": "1", "type": "page", "title": "t", "version": {"number": 1}, "_links": {}}
    with closing(Scripted(lambda _: Reply({"results": []}))) as thief:

        def answer(request: Any) -> Reply:
            if request.params.get("type") != "page":
                return Reply({"results": []})
            first = request.params["start"] == "0"
            links = {"next": f"{thief.url}/rest/api/content?start=1"} if first else {}
            return Reply({"results": [page], "_links": links})

        with closing(Scripted(answer)) as fake:
            options = {"baseUrl": fake.url, "space": "X", "apiKeyPreset": "Forge"}
            items = listing(Source("confluence", "wiki", options=options), means)
    assert [item.path for item in items] == ["pages/1"]
    assert thief.seen == []


def test_names_of_files_cannot_leave_their_page(wiki: FakeConfluence, means: Means) -> None:
    wiki.attach("att7", "99", "../../etc/passwd", b"x")
    wiki.attach("att8", "99", "..", b"x")
    wiki.attach("att9", "99", unicodedata.normalize("NFD", "보고서.pdf"), b"x")
    paths = [item.path for item in listing(source(wiki), means)]
    assert [path for path in paths if path.startswith("pages/99/")] == [
        "pages/99/att7/.._.._etc_passwd",
        "pages/99/att8/_",
        "pages/99/att9/보고서.pdf",
    ]


def test_a_server_without_the_search_is_asked_page_by_page_for_files(means: Means) -> None:
    fake = FakeConfluence(cloud=True)
    fake.write("1", "t", "<p>x</p>")
    with closing(fake):
        fake.fail("/rest/api/content/search", Reply({"message": "gone"}, 404), times=2)
        fake.fail("/pages/1/attachments", Reply({"results": [], "_links": {}}))
        assert [item.path for item in listing(source(fake), means)] == ["pages/1"]
        assert fake.calls("/api/v2/pages/1/attachments")


def test_an_address_of_cloud_is_completed() -> None:
    from seoga_indexer.sources.confluence.server import Server

    assert Server("https://team.atlassian.net").base == "https://team.atlassian.net/wiki"
    assert Server("https://team.atlassian.net/wiki/").base == "https://team.atlassian.net/wiki"
    assert Server("https://team.atlassian.net").cloud
    assert not Server("https://wiki.example.org/confluence").cloud
