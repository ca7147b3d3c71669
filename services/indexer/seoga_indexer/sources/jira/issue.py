"""An issue as a document: its fields, texts, comments and what it is linked with, in HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from seoga_indexer.sources._reading import dig
from seoga_indexer.sources.jira import adf, wiki

_LISTED = {
    "project": "Project", "issuetype": "Type", "status": "Status", "resolution": "Resolution",
    "priority": "Priority", "assignee": "Assignee", "reporter": "Reporter", "parent": "Parent",
    "labels": "Labels", "components": "Components", "versions": "Affects versions",
    "fixVersions": "Fix versions", "duedate": "Due", "created": "Created",
    "resolutiondate": "Resolved",
}  # fmt: skip
# Texts of their own, counters, and what changes without anybody writing a word.
_ELSEWHERE = frozenset((
    "summary", "description", "environment", "comment", "attachment", "issuelinks", "subtasks",
    "worklog", "updated", "lastViewed", "watches", "votes", "progress", "aggregateprogress",
    "workratio", "timetracking", "thumbnail", "statuscategorychangedate", "statusCategory",
    "security", "creator", "issuerestriction", "timespent", "timeestimate", "timeoriginalestimate",
    "aggregatetimespent", "aggregatetimeestimate", "aggregatetimeoriginalestimate",
))  # fmt: skip
_NAMES = ("displayName", "name", "value", "title", "key")
_SHORT = 300
_MOST_FIELDS = 500

_Json = Mapping[str, Any]


def document(issue: _Json, comments: Iterable[_Json]) -> bytes:
    """HTML in UTF-8 of an issue as its API gives it (`expand=names`), with all its comments."""
    fields = dig(issue, "fields") or {}
    names = dig(issue, "names") or {}
    key, summary = str(issue.get("key", "")), str(fields.get("summary") or "")
    title = escape(f"{key} {summary}".strip())
    parts = [f"<h1>{title}</h1>", _list(_facts(fields, names))]
    for name, field in (("Description", "description"), ("Environment", "environment")):
        parts.append(_section(name, rich(fields.get(field))))
    parts += [_section(name, text) for name, text in _texts(fields, names)]
    parts.append(_section("Links", _list(_links(fields))))
    parts.append(_section("Attachments", _list(_attachments(fields))))
    told = "".join(_comment(one) for one in comments)
    parts.append(_section("Comments", told))
    head = "".join(
        f'<meta name="{name}" content="{escape(text)}">'
        for name, text in (
            ("author", shown(fields.get("reporter"))),
            ("keywords", shown(fields.get("labels"))),
        )
        if text
    )
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body>{''.join(parts)}</body></html>"
    ).encode("utf-8", "replace")


def rich(value: Any) -> str:
    """The HTML of a long text: the document format of Cloud, or wiki markup."""
    if isinstance(value, Mapping):
        return adf.html_of(value) if value.get("type") == "doc" else escape(shown(value))
    return wiki.html_of(value) if isinstance(value, str) and value.strip() else ""


def shown(value: Any, depth: int = 0) -> str:
    """What a value of a field is called, "" for nothing."""
    if value is None or isinstance(value, bool) or depth > 4:
        return ""
    if isinstance(value, list):
        return ", ".join(text for one in value[:100] if (text := shown(one, depth + 1)))
    if isinstance(value, Mapping):
        if isinstance(summary := dig(value, "fields", "summary"), str):
            return f"{value.get('key', '')} {summary}".strip()
        own = next((str(value[name]) for name in _NAMES if isinstance(value.get(name), str)), "")
        child = shown(value.get("child"), depth + 1)
        return f"{own} / {child}" if child else own
    return str(value)


def _facts(fields: _Json, names: _Json) -> Iterator[str]:
    for field, name in _LISTED.items():
        if text := shown(fields.get(field)):
            yield f"{name}: {text}"
    for field, value in _others(fields):
        text = shown(value)
        if text and len(text) <= _SHORT and "\n" not in text and "|i" not in text[:4]:
            yield f"{names.get(field) or field}: {text}"


def _texts(fields: _Json, names: _Json) -> Iterator[tuple[str, str]]:
    """Other fields that hold long texts."""
    for field, value in _others(fields):
        long = isinstance(value, str) and (len(value) > _SHORT or "\n" in value)
        if long or dig(value, "type") == "doc":
            yield str(names.get(field) or field), rich(value)


def _others(fields: _Json) -> list[tuple[str, Any]]:
    known = _ELSEWHERE | _LISTED.keys()
    return [(field, fields[field]) for field in sorted(fields) if field not in known][:_MOST_FIELDS]


def _links(fields: _Json) -> Iterator[str]:
    for link in _dicts(fields.get("issuelinks")):
        for side, how in (("outwardIssue", "outward"), ("inwardIssue", "inward")):
            if other := link.get(side):
                yield f"{dig(link, 'type', how) or 'relates to'} {shown(other)}"
    for one in _dicts(fields.get("subtasks")):
        yield f"subtask {shown(one)}"


def _attachments(fields: _Json) -> Iterator[str]:
    for one in _dicts(fields.get("attachment")):
        yield str(one.get("filename", ""))


def _comment(comment: _Json) -> str:
    when = str(comment.get("created", ""))[:10]
    who = shown(comment.get("author")) or "?"
    head = f"<h3>{escape(f'{who}, {when}' if when else who)}</h3>"
    inside = rich(comment.get("body"))
    return f'{head}<div itemscope itemtype="https://schema.org/Comment">{inside}</div>'


def _section(name: str, inside: str) -> str:
    return f"<h2>{escape(name)}</h2><div>{inside}</div>" if inside else ""


def _list(lines: Iterable[str]) -> str:
    inside = "".join(f"<li>{escape(line)}</li>" for line in lines if line)
    return f"<ul>{inside}</ul>" if inside else ""


def _dicts(value: Any) -> list[_Json]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
