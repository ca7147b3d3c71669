"""The Jira source: the issues of a JQL query, each one document, and their attachments.

The path of an issue is its key (`ABC-12`), that of an attachment goes on with its id and name; the
version of an issue is when it was updated. An issue that moves to another project has another key,
and so is another document.
"""

from __future__ import annotations

from seoga.models import Source
from seoga_indexer.source import Means
from seoga_indexer.sources._login import Login
from seoga_indexer.sources._remote import RemoteConnector
from seoga_indexer.sources._rest import Rest
from seoga_indexer.sources.jira.server import Server

TYPE = "jira"


def connect(source: Source, means: Means) -> RemoteConnector:
    """The connector of a Jira source."""
    return RemoteConnector(source, means, _open)


def _open(source: Source, login: Login) -> Server:
    rest = Rest(str(source.options.get("baseUrl", "")), login)
    return Server(rest, login.user, str(source.options.get("jql", "")))
