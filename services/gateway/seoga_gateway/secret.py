"""The secret that all workers of a gateway share, so that state signed by one is accepted by the
next."""

from __future__ import annotations

import fcntl
import os
import secrets

from seoga.errors import ConfigError
from seoga.settings import Settings

MIN_CHARS = 32
FILE_NAME = ".gateway-secret"


def shared_secret(config: Settings) -> str:
    """`SEOGA_MCP_SECRET`, else the content of a file under the base path, made once with mode 0600.

    Raises ConfigError when the setting is too short or the file can be neither read nor made.
    """
    if config.mcp_secret:
        if len(config.mcp_secret) < MIN_CHARS:
            raise ConfigError(f"SEOGA_MCP_SECRET is shorter than {MIN_CHARS} characters.")
        return config.mcp_secret
    path = config.base_path / FILE_NAME
    try:
        config.base_path.mkdir(parents=True, exist_ok=True)
        # Workers start at once: whoever gets the lock first writes, the others read.
        with os.fdopen(
            os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="ascii"
        ) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            known = file.read().strip()
            if len(known) >= MIN_CHARS:
                return known
            fresh = secrets.token_urlsafe(48)
            file.seek(0)
            file.truncate()
            file.write(fresh)
            file.flush()
            os.fsync(file.fileno())
            return fresh
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The secret file {path} cannot be used: {error}",
            f"Set SEOGA_MCP_SECRET to {MIN_CHARS} or more random characters.",
        ) from error
