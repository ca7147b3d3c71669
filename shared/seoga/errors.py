"""The error tree: each class carries its code, HTTP status and exit code, and crosses service
borders unchanged.

SeogaError
├── InvalidArgument      400, exit 64   a parameter is out of range or malformed
├── ConfigError          400, exit 1    a config.json or setting is wrong (names file, key, value)
├── NotFound             404, exit 1    no such KB, document or chunk
├── Unauthorized         401, exit 1    no valid token or API key
├── Forbidden            403, exit 1    a valid token without the right
├── Busy                 409, exit 3    another run holds the lease
│   └── DatabaseLocked                  another process is in the middle of a write
├── LeaseLost            409, exit 1    our lease expired and was taken; nothing more may be written
├── Cancelled            499, exit 2    a person asked to stop
├── MissingDependency    501, exit 1    a library, binary, language or model is not installed
├── ServiceUnavailable   503, exit 1    a configured service or provider does not answer
├── StorageError         500, exit 1    the database cannot be used (disk full, newer schema,
network file system)
├── ExtractionFailed     422            one file gives no text; carries a Reason
└── EmbeddingFailed      502            a provider answered with an error; carries its class
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, TypedDict, TypeVar


class ErrorShape(TypedDict):
    """The one shape of an error, on HTTP, in MCP tools and in --json output."""

    code: str
    message: str
    hint: str


class SeogaError(Exception):
    """Base of everything this product raises on purpose: `message` names the thing, `hint` the
    way out."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def shape(self) -> ErrorShape:
        """`{code, message, hint}`, the form that travels."""
        return {"code": self.code, "message": self.message, "hint": self.hint}

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process pools by pickle; the default would call __init__ with args alone.
        return (_rebuild, (type(self), dict(self.__dict__)))


def _rebuild(cls: type[SeogaError], state: dict[str, object]) -> SeogaError:
    error = cls.__new__(cls, state.get("message", ""))
    error.__dict__.update(state)
    return error


class InvalidArgument(SeogaError):
    """A parameter is malformed or out of range."""

    code = "invalid_argument"
    status = 400
    exit_code = 64


class ConfigError(SeogaError):
    """A configuration file or setting is wrong; the message names file, key, value and what is
    allowed."""

    code = "config_error"
    status = 400


class NotFound(SeogaError):
    """No such knowledge base, document or chunk."""

    code = "not_found"
    status = 404


class Unauthorized(SeogaError):
    """No valid token or key."""

    code = "unauthorized"
    status = 401


class Forbidden(SeogaError):
    """A valid caller without the right to do this."""

    code = "forbidden"
    status = 403


class Busy(SeogaError):
    """Another run holds the knowledge base."""

    code = "busy"
    status = 409
    exit_code = 3


class LeaseLost(SeogaError):
    """Our lease expired and another owner holds it: nothing more may be written."""

    code = "lease_lost"
    status = 409


class Cancelled(SeogaError):
    """Somebody asked to stop; what is done stays."""

    code = "cancelled"
    status = 499
    exit_code = 2


class MissingDependency(SeogaError):
    """A library, binary, language pack or model is not installed here."""

    code = "missing_dependency"
    status = 501


class ServiceUnavailable(SeogaError):
    """A configured service does not answer, or refuses work for now."""

    code = "service_unavailable"
    status = 503


class StorageError(SeogaError):
    """The database cannot be used: disk full, newer schema, network file system, corruption."""

    code = "storage_error"


class DatabaseLocked(Busy, StorageError):
    """Another process has been in the middle of a write for longer than we wait: a later try is
    all it takes."""

    code = "database_locked"


class Reason(StrEnum):
    """Why a file gave no (or not all) text. Shared by extraction, index, tools and metrics."""

    EMPTY = "empty"
    ENCRYPTED = "encrypted"
    CORRUPT = "corrupt"
    UNSUPPORTED = "unsupported"
    BINARY = "binary"
    TOO_LARGE = "too_large"
    TIMEOUT = "timeout"
    CRASH = "crash"
    OUT_OF_MEMORY = "out_of_memory"
    NEEDS_OCR = "needs_ocr"
    NO_TEXT = "no_text"
    MISSING_MODEL = "missing_model"
    MISSING_DEPENDENCY = "missing_dependency"
    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    CONTEXT = "context"
    NO_CONTEXT = "no_context"
    EMBEDDING = "embedding"
    INTERNAL = "internal"

    @property
    def needs_action(self) -> bool:
        """True when a person can make the file readable (state NeedsAction rather than Failed)."""
        return self in _NEEDS_ACTION

    @property
    def way_out(self) -> str:
        """What a person can do, as one sentence; "" where there is nothing to do."""
        return _WAYS_OUT.get(self, "")


_NEEDS_ACTION = frozenset(
    {
        Reason.ENCRYPTED,
        Reason.NEEDS_OCR,
        Reason.NO_TEXT,
        Reason.MISSING_MODEL,
        Reason.MISSING_DEPENDENCY,
        Reason.UNREADABLE,
    }
)

_WAYS_OUT = {
    Reason.EMPTY: "The file has no content; nothing is to be done if that is right.",
    Reason.ENCRYPTED: "Put its password into the file that SEOGA_PASSWORDS_FILE names, or save it"
    " without one (or with AES, where its encryption is not known).",
    Reason.CORRUPT: "Open it in the program that made it, and save it again.",
    Reason.UNSUPPORTED: "`seoga doctor` lists the formats; save it as one of them, or exclude it.",
    Reason.BINARY: "It is no text, whatever its name says: rename or exclude it.",
    Reason.TOO_LARGE: "Split it, make it simpler, or raise SEOGA_MAX_FILE_MB if that is the limit.",
    Reason.TIMEOUT: "Raise SEOGA_EXTRACT_TIMEOUT_S and run with --force, or make it smaller.",
    Reason.CRASH: "Save it again, or exclude it; other files are not affected.",
    Reason.OUT_OF_MEMORY: "Split it, or raise SEOGA_EXTRACT_MEMORY_MB and run with --force.",
    Reason.NEEDS_OCR: "Install tesseract with its language; `seoga doctor` says what is missing.",
    Reason.NO_TEXT: "Nothing could be recognised: scan it again, with more contrast.",
    Reason.MISSING_MODEL: "Allow the download (SEOGA_OFFLINE), or name the model's folder.",
    Reason.MISSING_DEPENDENCY: "`seoga doctor` says what is missing.",
    Reason.UNREADABLE: "Do what its line says, or give this user the right to read it.",
    Reason.CONTEXT: "The next run asks the model again.",
    Reason.NO_CONTEXT: "They are found by their own words; another model or systemPrompt asks anew,"
    " as does `seoga exec --force`.",
    Reason.EMBEDDING: "The provider refused passages of it; `seoga exec --force` tries again.",
}


class ExtractionFailed(SeogaError):
    """One file gives no text; `reason` says which way. Never fatal to anything but that file."""

    code = "extraction_failed"
    status = 422

    def __init__(self, message: str, hint: str = "", reason: Reason = Reason.CORRUPT) -> None:
        super().__init__(message, hint)
        self.reason = reason


class ProviderFault(StrEnum):
    """Classes of a provider's error; each is handled its own way."""

    AUTH = "auth"
    RATE = "rate"
    OUTAGE = "outage"
    REJECTED = "rejected"
    BAD_OUTPUT = "bad_output"


class EmbeddingFailed(SeogaError):
    """A provider answered with an error; `fault` decides what happens next. `key` names the
    environment variable of a key that is missing or `refused`; `final`: of what was given up, so
    that nobody asks again unless told to."""

    code = "embedding_failed"
    status = 502

    def __init__(
        self, message: str, hint: str = "", fault: ProviderFault = ProviderFault.OUTAGE
    ) -> None:
        super().__init__(message, hint)
        self.fault = fault
        self.key = ""
        self.refused = False
        self.final = False

    def about_key(self, variable: str, *, refused: bool) -> EmbeddingFailed:
        """The same, naming the key that would help."""
        self.key, self.refused = variable, refused
        return self


def _tree(root: type[SeogaError]) -> list[type[SeogaError]]:
    return [root, *(found for child in root.__subclasses__() for found in _tree(child))]


_Enum = TypeVar("_Enum", bound=StrEnum)
_BY_CODE = {cls.code: cls for cls in _tree(SeogaError)}


def _member(enum: type[_Enum], value: str | None, otherwise: _Enum) -> _Enum:
    # Another release may know members that this one does not; that must not hide the error itself.
    return next((member for member in enum if member.value == value), otherwise)


def shown(value: str, most: int = 100) -> str:
    """What was given, as an error repeats it: quoted, and no more than its beginning."""
    return repr(beginning(value, most))


def beginning(value: str, most: int = 100) -> str:
    """A text of at most so many characters, or its beginning and an ellipsis."""
    return value if len(value) <= most else f"{value[:most]}…"


def wire(error: SeogaError) -> dict[str, str]:
    """An error as it travels between services: its shape, plus reason or fault where it has one."""
    out = {"code": error.code, "message": error.message, "hint": error.hint}
    if isinstance(error, ExtractionFailed):
        out["reason"] = error.reason.value
    if isinstance(error, EmbeddingFailed):
        out["fault"] = error.fault.value
        if error.key:
            out |= {"key": error.key, "refused": "yes" if error.refused else ""}
        if error.final:
            out["final"] = "yes"
    return out


def unwire(data: dict[str, str]) -> SeogaError:
    """The same class again at the other side; an unknown code becomes a plain SeogaError."""
    cls = _BY_CODE.get(data.get("code", ""), SeogaError)
    error = cls(data.get("message", "unknown error"), data.get("hint", ""))
    if isinstance(error, ExtractionFailed):
        error.reason = _member(Reason, data.get("reason"), Reason.INTERNAL)
    if isinstance(error, EmbeddingFailed):
        error.fault = _member(ProviderFault, data.get("fault"), ProviderFault.OUTAGE)
        error.about_key(data.get("key", ""), refused=bool(data.get("refused")))
        error.final = bool(data.get("final"))
    return error
