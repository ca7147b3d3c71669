"""Which Confluence it is: Cloud, with its second API, or Data Center."""

from __future__ import annotations

from urllib.parse import urlsplit

_CLOUD = (".atlassian.net", ".jira.com", "api.atlassian.com")


class Server:
    """`base` is the address below which both APIs and the pages lie, without a final slash."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        host, base = parts.hostname or "", address.rstrip("/")
        self.cloud = host.endswith(_CLOUD) or parts.path.rstrip("/").endswith("/wiki")
        if host.endswith(_CLOUD) and not base.endswith("/wiki"):
            base += "/wiki"
        self.base = base

    def shown(self, link: str) -> str:
        """The address of a page or a file from its `_links`, without its query; "" for none."""
        link = link.partition("#")[0]
        if not link.startswith("/") or link.startswith("//"):
            return ""
        path, _, query = link.partition("?")
        # Old pages are named in the query alone; of a file it holds only times and versions.
        return self.base + (link if "pageId=" in query else path)
