"""Confluence as its documentation describes it: Cloud (v2 beside v1) and Data Center (v1)."""

from __future__ import annotations

import re
from typing import Any

from fake_server import FakeServer, Reply, Request


class FakeConfluence(FakeServer):
    """Pages in one space. `size` is how many results a page of a listing has."""

    def __init__(self, cloud: bool, space: str = "DEV") -> None:
        self.cloud, self.space, self.size = cloud, space, 2
        self.prefix = "/wiki" if cloud else "/confluence"
        self.pages: dict[str, dict[str, Any]] = {}
        self.files: dict[str, dict[str, Any]] = {}
        self.comments: dict[str, dict[str, Any]] = {}
        super().__init__()

    def write(self, number: str, title: str, body: str, **more: Any) -> None:
        """Makes a page, or a new version of it."""
        version = self.pages.get(number, {}).get("version", 0) + 1
        self.pages[number] = {
            "title": title, "body": body, "version": version, "type": "page", "parent": "",
        } | more  # fmt: skip

    def attach(self, number: str, page: str, name: str, data: bytes) -> None:
        """Makes an attachment, or a new version of it."""
        version = self.files.get(number, {}).get("version", 0) + 1
        self.files[number] = {"page": page, "name": name, "data": data, "version": version}

    def comment(self, number: str, page: str, body: str, **more: Any) -> None:
        """Makes a comment, or a new version of it; `on` words of the page, or as `reply` to one."""
        version = self.comments.get(number, {}).get("version", 0) + 1
        self.comments[number] = {
            "page": page, "body": body, "version": version,
            "on": "", "reply": "", "resolved": False,
        } | more  # fmt: skip

    def answer(self, request: Request) -> Reply:
        for pattern, method, only in _ROUTES:
            found = re.fullmatch(pattern, request.path)
            if found and (only is None or only == self.cloud):
                reply: Reply = getattr(self, method)(request, *found.groups())
                return reply
        return Reply({"message": "no such resource"}, 404)

    # The second API of Cloud

    def spaces(self, request: Request) -> Reply:
        found = [{"id": "98304", "key": self.space}] if request.params["keys"] == self.space else []
        return Reply({"results": found, "_links": {"base": self.url}})

    def in_space(self, request: Request, space: str, folder: str) -> Reply:
        assert space == "98304"
        assert request.params["limit"] == "250"
        kind = folder.removesuffix("s")
        found = [self._v2(n) for n, page in self.pages.items() if page["type"] == kind]
        start = int(request.params.get("cursor", "c0")[1:])
        links: dict[str, str] = {"base": self.url}
        if start + self.size < len(found):
            links["next"] = (
                f"/wiki/api/v2/spaces/{space}/{folder}?limit=250&cursor=c{start + self.size}"
            )
        return Reply({"results": found[start : start + self.size], "_links": links})

    def v2_page(self, request: Request, folder: str, number: str) -> Reply:
        if number not in self.pages or self.pages[number]["type"] != folder.removesuffix("s"):
            return Reply({"errors": [{"status": 404, "title": "Not Found"}]}, 404)
        page = self._v2(number)
        if request.params.get("body-format") == "storage":
            body = {"representation": "storage", "value": self.pages[number]["body"]}
            page["body"] = {"storage": body}
        if request.params.get("include-labels") == "true":
            page["labels"] = {"results": [{"name": "runbook"}]}
        return Reply(page)

    def _v2(self, number: str) -> dict[str, Any]:
        page = self.pages[number]
        return {
            "id": number, "status": "current", "title": page["title"], "spaceId": "98304",
            "parentId": page["parent"] or None, "parentType": "page" if page["parent"] else None,
            "version": {"number": page["version"], "createdAt": "2024-05-01T10:00:00.000Z"},
            "_links": {"webui": f"/spaces/{self.space}/pages/{number}/Title"},
        }  # fmt: skip

    def v2_comments(self, request: Request, folder: str, page: str, kind: str) -> Reply:
        assert request.params["body-format"] == "storage"
        path = f"/wiki/api/v2/{folder}/{page}/{kind}"
        return self._v2_stepped(request, path, self._told(page, kind, ""))

    def v2_replies(self, request: Request, kind: str, number: str) -> Reply:
        page = self.comments[number]["page"]
        path = f"/wiki/api/v2/{kind}/{number}/children"
        return self._v2_stepped(request, path, self._told(page, kind, number))

    def _told(self, page: str, kind: str, reply: str) -> list[dict[str, Any]]:
        return [
            self._v2_comment(number)
            for number, one in self.comments.items()
            if (one["page"], one["reply"], bool(one["on"])) == (page, reply, kind[0] == "i")
        ]

    def _v2_comment(self, number: str) -> dict[str, Any]:
        one = self.comments[number]
        told: dict[str, Any] = {
            "id": number, "status": "current",
            "version": {"number": one["version"], "createdAt": "2024-05-03T10:00:00.000Z"},
            "body": {"storage": {"representation": "storage", "value": one["body"]}},
        }  # fmt: skip
        if one["on"]:
            told["properties"] = {"inlineMarkerRef": "r", "inlineOriginalSelection": one["on"]}
            told["resolutionStatus"] = "resolved" if one["resolved"] else "open"
        return told

    def _v2_stepped(self, request: Request, path: str, found: list[dict[str, Any]]) -> Reply:
        start = int(request.params.get("cursor", "c0")[1:])
        links: dict[str, str] = {"base": self.url}
        if start + self.size < len(found):
            links["next"] = f"{path}?limit=250&cursor=c{start + self.size}"
        return Reply({"results": found[start : start + self.size], "_links": links})

    # The first API: all of Data Center, search and files of Cloud

    def content(self, request: Request) -> Reply:
        if request.params["spaceKey"] != self.space:
            return Reply({"statusCode": 404, "message": "No space with key : X"}, 404)
        found = [n for n, page in self.pages.items() if page["type"] == request.params["type"]]
        return self._stepped(request, "/rest/api/content", [self._v1(n, request) for n in found])

    def search(self, request: Request) -> Reply:
        cql = request.params["cql"]
        if "(" in cql:
            return Reply({"statusCode": 400, "message": f"Could not parse cql : {cql}"}, 400)
        if "type = comment" in cql:
            found = [self._v1_comment(n) | self._holder(n) for n in self.comments]
        elif "type = attachment" in cql:
            found = [self._file(n) | self._container(n) for n in self.files]
        else:
            found = [self._v1(n, request) for n in self.pages]
        return self._stepped(request, "/rest/api/content/search", found)

    def one(self, request: Request, number: str) -> Reply:
        if number not in self.pages:
            return Reply({"statusCode": 404, "message": "No content found"}, 404)
        page, parent = self.pages[number], self.pages[number]["parent"]
        found = self._v1(number, request) | {
            "ancestors": [{"id": parent, "title": self.pages[parent]["title"]}] if parent else [],
            "space": {"key": self.space, "name": "Development"},
            "metadata": {"labels": {"results": [{"name": "runbook"}]}},
        }
        if "body.storage" in request.params["expand"]:
            found["body"] = {"storage": {"value": page["body"], "representation": "storage"}}
        return Reply(found)

    def children(self, request: Request, number: str) -> Reply:
        found = [self._file(n) for n, file in self.files.items() if file["page"] == number]
        return self._stepped(request, f"/rest/api/content/{number}/child/attachment", found)

    def v1_comments(self, request: Request, number: str) -> Reply:
        assert request.params["depth"] == "all"
        found = [self._v1_comment(n) for n, one in self.comments.items() if one["page"] == number]
        return self._stepped(request, f"/rest/api/content/{number}/child/comment", found)

    def _v1_comment(self, number: str) -> dict[str, Any]:
        one = self.comments[number]
        extensions: dict[str, Any] = {"location": "inline" if one["on"] else "footer"}
        if one["on"]:
            extensions["inlineProperties"] = {"originalSelection": one["on"]}
            extensions["resolution"] = {"status": "resolved" if one["resolved"] else "open"}
        return {
            "id": number, "type": "comment", "status": "current", "extensions": extensions,
            "version": {
                "number": one["version"], "when": "2024-05-03T10:00:00.000+09:00",
                "by": {"displayName": "박검색"},
            },
            "body": {"storage": {"value": one["body"], "representation": "storage"}},
        }  # fmt: skip

    def _holder(self, number: str) -> dict[str, Any]:
        page = self.comments[number]["page"]
        return {"container": {"id": page, "type": self.pages[page]["type"]}}

    def download(self, request: Request, page: str, name: str) -> Reply:
        for file in self.files.values():
            if (file["page"], file["name"]) == (page, name):
                return Reply(file["data"])
        return Reply("<html>gone</html>", 404)

    def _stepped(self, request: Request, path: str, found: list[dict[str, Any]]) -> Reply:
        start = int(request.params.get("cursor") or request.params.get("start") or 0)
        links = {"base": self.url, "context": self.prefix}
        if start + self.size < len(found):
            step = "next=true&cursor" if self.cloud else "start"
            links["next"] = f"{path}?{step}={start + self.size}&limit={self.size}"
        results = found[start : start + self.size]
        sizes = {"start": start, "limit": self.size, "size": len(results)}
        return Reply({"results": results, "_links": links} | sizes)

    def _v1(self, number: str, request: Request) -> dict[str, Any]:
        page = self.pages[number]
        made: dict[str, Any] = {
            "id": number, "type": page["type"], "status": "current", "title": page["title"],
            "version": {
                "number": page["version"], "when": "2024-05-01T10:00:00.000+09:00",
                "by": {"displayName": "김서가"},
            },
            "_links": {"webui": f"/display/{self.space}/{number}"},
        }  # fmt: skip
        if "children.attachment" in request.params.get("expand", ""):
            mine = [self._file(n) for n, file in self.files.items() if file["page"] == number]
            links = {"next": "x"} if len(mine) > self.size else {}
            made["children"] = {"attachment": {"results": mine[: self.size], "_links": links}}
        if "children.comment" in request.params.get("expand", ""):
            told = [
                self._v1_comment(n)
                for n, one in self.comments.items()
                if (one["page"], one["reply"]) == (number, "")
            ]
            made.setdefault("children", {})["comment"] = {"results": told[: self.size]}
        return made

    def _file(self, number: str) -> dict[str, Any]:
        file = self.files[number]
        return {
            "id": number, "type": "attachment", "title": file["name"],
            "version": {"number": file["version"], "when": "2024-05-02T10:00:00.000Z"},
            "extensions": {"fileSize": len(file["data"]), "mediaType": "text/plain"},
            "_links": {"download": f"/download/attachments/{file['page']}/{file['name']}?v=1"},
        }  # fmt: skip

    def _container(self, number: str) -> dict[str, Any]:
        page = self.files[number]["page"]
        return {"container": {"id": page, "type": self.pages[page]["type"]}}


_ROUTES: tuple[tuple[str, str, bool | None], ...] = (
    (r"/api/v2/spaces", "spaces", True),
    (r"/api/v2/spaces/(\w+)/(pages|blogposts)", "in_space", True),
    (r"/api/v2/(pages|blogposts)/(\w+)", "v2_page", True),
    (r"/api/v2/(pages|blogposts)/(\w+)/((?:footer|inline)-comments)", "v2_comments", True),
    (r"/api/v2/((?:footer|inline)-comments)/(\w+)/children", "v2_replies", True),
    (r"/rest/api/content/search", "search", None),
    (r"/rest/api/content", "content", False),
    (r"/rest/api/content/(\w+)", "one", None),
    (r"/rest/api/content/(\w+)/child/comment", "v1_comments", False),
    (r"/rest/api/content/(\w+)/child/attachment", "children", None),
    (r"/download/attachments/(\w+)/([^/]+)", "download", None),
)
