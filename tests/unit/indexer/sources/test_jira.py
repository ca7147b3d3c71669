"""Jira, Cloud and Data Center: complete listings by key and date, an issue as one document."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from fake_jira import FakeJira
from fake_server import Reply, Scripted

from seoga.models import Item, Source
from seoga_indexer.source import Means, SourceUnavailable, connector_for

QUERY = "project = ABC"


def words(cloud: bool, text: str) -> Any:
    """A long text as each form keeps it."""
    node = {"type": "paragraph", "content": [{"type": "text", "text": text}]}
    return {"type": "doc", "version": 1, "content": [node]} if cloud else text


@pytest.fixture(params=[True, False], ids=["cloud", "data-center"])
def jira(request: pytest.FixtureRequest) -> Iterator[FakeJira]:
    """Three issues, one with everything."""
    fake = FakeJira(cloud=request.param)
    fake.write("ABC-1", summary="First", description=words(fake.cloud, "Broken pump"))
    fake.write(
        "ABC-10",
        summary="로그인 <오류>",
        issuetype={"name": "Bug"},
        status={"name": "In Progress"},
        assignee={"displayName": "김서가"},
        labels=["auth", "urgent"],
        components=[{"name": "Gateway"}, {"name": "Indexer"}],
        customfield_10=words(fake.cloud, "Clock\nskew"),
        customfield_11=[{"name": "Sprint 7"}],
        customfield_12=None,
        issuelinks=[
            {
                "type": {"outward": "blocks"},
                "outwardIssue": {"key": "ABC-1", "fields": {"summary": "First"}},
            }
        ],
    )
    for number in range(5):
        fake.comment("ABC-10", f"Person {number}", words(fake.cloud, f"Comment number {number}"))
    fake.write("ABC-2", summary="Last")
    fake.attach("ABC-2", "501", "trace.txt", b"stack trace")
    with closing(fake):
        yield fake


def source(fake: FakeJira, jql: str = QUERY, **options: Any) -> Source:
    filters = {key: tuple(options.pop(key)) for key in ("include", "exclude") if key in options}
    return Source("jira", "jira", options={"baseUrl": fake.url, "jql": jql} | options, **filters)


def listing(one: Source, means: Means) -> list[Item]:
    with closing(connector_for(one, means)) as connector:
        return [entry for entry in connector.items() if isinstance(entry, Item)]


def text(one: Source, means: Means, item: Item) -> str:
    with closing(connector_for(one, means)) as connector, connector.open(item) as local:
        return local.read_text(encoding="utf-8")


def test_the_issues_of_a_query_are_listed_whole_with_their_files(
    jira: FakeJira, means: Means
) -> None:
    items = listing(source(jira), means)
    assert [item.path for item in items] == ["ABC-1", "ABC-10", "ABC-2", "ABC-2/501/trace.txt"]
    assert items[0].version == "2024-05-01T10:00:01.000+0900"
    assert items[0].mtime_ns == 1714525201 * 10**9
    assert items[0].url == f"{jira.url}/browse/ABC-1"
    assert items[3].size == 11
    assert text(source(jira), means, items[3]) == "stack trace"


def test_the_requests_are_those_of_the_documentation(jira: FakeJira, means: Means) -> None:
    listing(source(jira, "project = ABC order by updated DESC"), means)
    query = "project = ABC ORDER BY created ASC, key ASC"
    common = {"jql": query, "maxResults": "100", "fields": "updated,attachment"}
    asked = [(request.path, request.params) for request in jira.seen]
    assert asked[0] == (f"{jira.prefix}/rest/api/2/serverInfo", {})
    if jira.cloud:
        assert asked[1:] == [
            ("/rest/api/3/search/jql", common),
            ("/rest/api/3/search/jql", common | {"nextPageToken": "t2"}),
        ]
    else:
        assert asked[1:] == [
            ("/jira/rest/api/2/search", common | {"startAt": "0"}),
            ("/jira/rest/api/2/search", common | {"startAt": "2"}),
        ]


def test_a_long_query_is_sent_as_a_body(jira: FakeJira, means: Means) -> None:
    query = f"key in ({', '.join(f'ABC-{n}' for n in range(400))})"
    assert len(listing(source(jira, query), means)) == 4
    posted = jira.calls("/search")[0]
    assert posted.method == "POST"
    assert posted.body["fields"] == ["updated", "attachment"]
    assert posted.body["jql"].startswith("key in (ABC-0, ")


def test_an_order_inside_a_quoted_text_is_part_of_the_query(jira: FakeJira, means: Means) -> None:
    listing(source(jira, 'summary ~ "how to order by mail"'), means)
    sent = jira.calls("/search")[0].params["jql"]
    assert sent == 'summary ~ "how to order by mail" ORDER BY created ASC, key ASC'


def test_an_issue_is_one_document_with_fields_texts_and_all_comments(
    jira: FakeJira, means: Means
) -> None:
    item = next(item for item in listing(source(jira), means) if item.path == "ABC-10")
    page = text(source(jira), means, item)
    assert "<title>ABC-10 로그인 &lt;오류&gt;</title>" in page
    for line in (
        "Type: Bug",
        "Status: In Progress",
        "Assignee: 김서가",
        "Labels: auth, urgent",
        "Components: Gateway, Indexer",
        "Sprint: Sprint 7",
        "blocks ABC-1 First",
    ):
        assert f"<li>{line}</li>" in page
    assert "<h2>Root cause</h2>" in page
    assert "Clock" in page
    for number in range(5):
        assert f"<h3>Person {number}, 2024-05-03</h3>" in page
        assert f"<p>Comment number {number}</p>" in page
    assert "updated" not in page
    asked = jira.calls("/issue/ABC-10")[0]
    assert asked.path == f"{jira.prefix}/rest/api/{jira.api}/issue/ABC-10"
    assert asked.params == {"fields": "*all", "expand": "names"}


def test_a_change_is_a_new_version_of_the_same_item(jira: FakeJira, means: Means) -> None:
    before = {item.path: item.version for item in listing(source(jira), means)}
    jira.comment("ABC-1", "X", "more")
    after = {item.path: item.version for item in listing(source(jira), means)}
    assert {path for path in before if before[path] != after[path]} == {"ABC-1"}


def test_include_and_exclude_speak_of_keys_and_names(jira: FakeJira, means: Means) -> None:
    one = source(jira, include=["ABC-1*", "ABC-2/"], exclude=["*.txt"])
    assert [item.path for item in listing(one, means)] == ["ABC-1", "ABC-10"]


def test_an_issue_that_is_gone_when_it_is_read_is_gone(jira: FakeJira, means: Means) -> None:
    items = listing(source(jira), means)
    jira.issues.clear()
    jira.files.clear()
    for item in (items[0], items[3]):
        with pytest.raises(FileNotFoundError):
            text(source(jira), means, item)


def test_a_bad_query_is_said_in_the_words_of_the_server(jira: FakeJira, means: Means) -> None:
    with pytest.raises(SourceUnavailable, match="Error in the JQL Query"):
        listing(source(jira, "(("), means)


def test_a_search_that_fails_half_way_gives_nothing(jira: FakeJira, means: Means) -> None:
    given: list[Any] = []
    step = "nextPageToken" if jira.cloud else "startAt"
    answer = jira.answer

    def failing(request: Any) -> Reply:
        if request.params.get(step, "0") not in ("0", "t0"):
            return Reply({"errorMessages": ["boom"]}, 400)
        return answer(request)

    jira.answer = failing
    with (
        closing(connector_for(source(jira), means)) as connector,
        pytest.raises(SourceUnavailable, match="boom"),
    ):
        given.extend(connector.items())
    assert given == []


def test_a_deletion_between_two_pages_loses_nobody(means: Means) -> None:
    fake = FakeJira(cloud=False)
    for number in range(1, 6):
        fake.write(f"ABC-{number}", summary="x")
    answer = fake.answer

    def deleting(request: Any) -> Reply:
        reply = answer(request)
        # After the first page all others move up by one: ABC-3 would be skipped.
        fake.issues.pop("ABC-1", None)
        return reply

    fake.answer = deleting
    with closing(fake):
        found = [item.path for item in listing(source(fake), means)]
    assert found == ["ABC-2", "ABC-3", "ABC-4", "ABC-5"]


def test_a_search_that_never_adds_up_is_unavailable(means: Means) -> None:
    issue = {"key": "ABC-1", "fields": {"updated": "2024-05-01T10:00:00.000+0900"}}

    def answer(request: Any) -> Reply:
        if "serverInfo" in request.path:
            return Reply({"deploymentType": "Server"})
        found = [] if request.params["startAt"] == "1" else [issue]
        return Reply({"issues": found, "total": 3, "startAt": 0})

    with closing(Scripted(answer)) as fake:
        one = Source("jira", "jira", options={"baseUrl": fake.url, "jql": QUERY})
        with pytest.raises(SourceUnavailable, match="do not add up"):
            listing(one, means)


def test_a_search_that_repeats_its_page_ends(jira: FakeJira, means: Means) -> None:
    answer = jira.answer

    def repeating(request: Any) -> Reply:
        reply = answer(request)
        if "/search" in request.path:
            asked = len(jira.calls("/search"))
            first = {"issues": jira._found({"jql": "", "fields": "updated"})[:2]}
            more = {"nextPageToken": f"t{asked}", "isLast": False, "total": 10**9}
            return Reply(first | more)
        return reply

    jira.answer = repeating
    with pytest.raises(SourceUnavailable, match="repeats itself"):
        listing(source(jira), means)
    assert len(jira.calls("/search")) == 2


def test_another_issue_than_the_one_asked_for_is_not_believed(jira: FakeJira, means: Means) -> None:
    answer = jira.answer

    def another(request: Any) -> Reply:
        request.path = request.path.replace("/issue/ABC-1", "/issue/ABC-2")
        return answer(request)

    with closing(connector_for(source(jira), means)) as connector:
        first = next(item for item in connector.items() if isinstance(item, Item))
        jira.answer = another
        with (
            pytest.raises(ConnectionError, match="ABC-1 was asked for, and the server gave ABC-2"),
            connector.open(first),
        ):
            pass


def test_an_issue_that_has_moved_since_is_read_under_its_new_key(
    jira: FakeJira, means: Means
) -> None:
    answer = jira.answer

    def moved(request: Any) -> Reply:
        reply = answer(request)
        if request.path.endswith("/issue/ABC-1"):
            return Reply({"id": "0", "key": "XYZ-7", "fields": jira.issues["ABC-1"]})
        return reply

    with closing(connector_for(source(jira), means)) as connector:
        first = next(item for item in connector.items() if isinstance(item, Item))
        jira.answer = moved
        with connector.open(first) as local:
            assert "XYZ-7" in local.read_text(encoding="utf-8")


@pytest.mark.parametrize("cloud", [True, False])
def test_a_server_that_does_not_say_what_it_is_is_known_by_its_accounts(
    means: Means, cloud: bool
) -> None:
    fake = FakeJira(cloud)
    fake.write("ABC-1", summary="x")
    with closing(fake):
        fake.fail("serverInfo", Reply({}, 404))
        user = {"user": "me@example.org"} if cloud else {}
        one = source(fake, apiKeyPreset="Forge", **user)
        assert [item.path for item in listing(one, means)] == ["ABC-1"]
        sent = fake.seen[-1].headers["authorization"]
        assert sent.startswith("Basic " if cloud else "Bearer s3cret-key")


def test_files_are_fetched_from_the_configured_address_only(means: Means) -> None:
    fake = FakeJira(cloud=True)
    fake.write("ABC-1", summary="x")
    fake.attach("ABC-1", "7", "a.txt", b"mine")
    link = fake.issues["ABC-1"]["attachment"][0]
    link["content"] = "http://169.254.169.254/rest/api/3/attachment/content/7"
    with closing(fake):
        item = listing(source(fake), means)[1]
        assert item.url == f"{fake.url}/rest/api/3/attachment/content/7"
        assert text(source(fake), means, item) == "mine"
