"""Jira as its documentation describes it: Cloud (API 3) and Data Center (API 2)."""

from __future__ import annotations

import re
from typing import Any

from fake_server import FakeServer, Reply, Request


class FakeJira(FakeServer):
    """Issues by key. `size` is how many issues a page of a search has at most."""

    def __init__(self, cloud: bool) -> None:
        self.cloud, self.size = cloud, 2
        self.prefix = "" if cloud else "/jira"
        self.api = 3 if cloud else 2
        self.issues: dict[str, dict[str, Any]] = {}
        self.comments: dict[str, list[dict[str, Any]]] = {}
        self.files: dict[str, bytes] = {}
        self.clock = 0
        super().__init__()

    def write(self, key: str, **fields: Any) -> None:
        """Makes an issue, or changes fields of it."""
        self.clock += 1
        old = self.issues.get(key, {"attachment": []})
        moved = {"updated": f"2024-05-01T10:00:{self.clock:02d}.000+0900"}
        self.issues[key] = old | fields | moved

    def attach(self, key: str, number: str, name: str, data: bytes) -> None:
        self.files[number] = data
        place = (
            f"/rest/api/3/attachment/content/{number}"
            if self.cloud
            else (f"/secure/attachment/{number}/{name}")
        )
        made = {
            "id": number, "filename": name, "size": len(data), "mimeType": "text/plain",
            "created": "2024-05-01T09:00:00.000+0900", "content": self.url + place,
        }  # fmt: skip
        self.write(key, attachment=[*self.issues[key]["attachment"], made])

    def comment(self, key: str, who: str, body: Any) -> None:
        made = {"author": {"displayName": who}, "created": "2024-05-03T10:00:00.000+0900"}
        self.comments.setdefault(key, []).append(made | {"body": body})
        self.write(key)

    def answer(self, request: Request) -> Reply:
        for pattern, method in _ROUTES:
            found = re.fullmatch(pattern.format(api=self.api), request.path)
            if found:
                reply: Reply = getattr(self, method)(request, *found.groups())
                return reply
        return Reply({"errorMessages": ["no such resource"]}, 404)

    def info(self, _: Request) -> Reply:
        return Reply({"deploymentType": "Cloud" if self.cloud else "Server"})

    def by_token(self, request: Request) -> Reply:
        if not self.cloud:
            return Reply({}, 404)
        asked = request.body or request.params
        start = int(str(asked.get("nextPageToken", "t0"))[1:])
        found = self._found(asked)
        if isinstance(found, Reply):
            return found
        answer: dict[str, Any] = {"issues": found[start : start + self.size], "isLast": True}
        if start + self.size < len(found):
            # The last page has no token at all.
            answer |= {"nextPageToken": f"t{start + self.size}", "isLast": False}
        return Reply(answer)

    def by_offset(self, request: Request) -> Reply:
        if self.cloud:
            return Reply({"errorMessages": ["The requested API has been removed."]}, 410)
        asked = request.body or request.params
        start = int(asked["startAt"])
        found = self._found(asked)
        if isinstance(found, Reply):
            return found
        sizes = {"startAt": start, "maxResults": self.size, "total": len(found)}
        return Reply({"issues": found[start : start + self.size]} | sizes)

    def _found(self, asked: dict[str, Any]) -> list[dict[str, Any]] | Reply:
        if "((" in asked["jql"]:
            return Reply({"errorMessages": ["Error in the JQL Query"], "errors": {}}, 400)
        wanted = asked["fields"]
        wanted = wanted.split(",") if isinstance(wanted, str) else wanted
        return [
            {"id": str(n), "key": key, "fields": {name: fields.get(name) for name in wanted}}
            for n, (key, fields) in enumerate(self.issues.items())
        ]

    def issue(self, request: Request, key: str) -> Reply:
        if key not in self.issues:
            return Reply({"errorMessages": ["Issue does not exist"]}, 404)
        told = self.comments.get(key, [])
        first = {"comments": told[: self.size], "total": len(told), "startAt": 0}
        fields = self.issues[key] | {"comment": first}
        names = {"customfield_10": "Root cause", "customfield_11": "Sprint"}
        more = {"names": names} if request.params.get("expand") == "names" else {}
        number = str(list(self.issues).index(key))
        return Reply({"id": number, "key": key, "fields": fields} | more)

    def more(self, request: Request, key: str) -> Reply:
        start = int(request.params["startAt"])
        told = self.comments[key]
        return Reply({"comments": told[start : start + self.size], "total": len(told)})

    def file(self, request: Request, number: str) -> Reply:
        if number not in self.files:
            return Reply({}, 404)
        return Reply(self.files[number])


_ROUTES = (
    (r"/rest/api/2/serverInfo", "info"),
    (r"/rest/api/3/search/jql", "by_token"),
    (r"/rest/api/2/search", "by_offset"),
    (r"/rest/api/{api}/issue/([A-Z]+-\d+)", "issue"),
    (r"/rest/api/{api}/issue/([A-Z]+-\d+)/comment", "more"),
    (r"/rest/api/3/attachment/content/(\w+)", "file"),
    (r"/secure/attachment/(\w+)/[^/]+", "file"),
)
