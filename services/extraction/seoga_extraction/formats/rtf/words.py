"""The control words of RTF by what becomes of them."""

from __future__ import annotations

import re

HEADING = re.compile(r"^(?:heading|제목|개요|überschrift|titre)\s*(\d)$", re.IGNORECASE)
SIGNS = {
    "tab": "\t",
    "line": "\n",
    "lbr": "\n",
    "bullet": "•",
    "endash": "–",
    "emdash": "—",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
}
# Destinations that are no text of the document; starred ones are skipped unless known.
SKIPPED = frozenset(
    [
        "colortbl",
        "pict",
        "nonshppict",
        "fldinst",
        "xe",
        "tc",
        "tcn",
        "rxe",
        "template",
        "operator",
        "filetbl",
        "listtable",
        "listoverridetable",
        "revtbl",
        "rsidtbl",
        "nonesttables",
        "objdata",
        "objclass",
        "upr",
        "pntxtb",
        "pntxta",
        "bkmkstart",
        "bkmkend",
        "shprslt",
        "sp",
        "sn",
        "sv",
        "private",
    ]
)
KNOWN_STARRED = frozenset(
    ("shpinst", "shptxt", "nesttableprops", "atnauthor", "do", "annotation", "footnote", "pntext")
)
NOTES = {
    "footnote": "footnote",
    "annotation": "comment",
    "header": "header",
    "headerl": "header",
    "headerr": "header",
    "headerf": "header",
    "footer": "footer",
    "footerl": "footer",
    "footerr": "footer",
    "footerf": "footer",
    "shptxt": "box",
    "dptxbxtext": "box",
}
KEPT = frozenset(
    (
        "fonttbl",
        "stylesheet",
        "info",
        "title",
        "author",
        "subject",
        "listtext",
        "pntext",
        "atnauthor",
    )
)
INFO = ("title", "author", "subject")
